// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The operator of regular joins and multi-way joins, whose inputs all go on. It queues chunks,
 * passes them to a symmetric join, emits the results and keeps a log of each input. Start with
 * {@link io.github.gpujoin.flink.runtime.symmetric.SymmetricJoinOperator}.
 */
package io.github.gpujoin.flink.runtime.symmetric;
