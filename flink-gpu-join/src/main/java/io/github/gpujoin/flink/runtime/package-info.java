// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The join operator: its life cycle, the phases LOAD and JOIN, watermarks, and the operator in
 * front of it that logs replicated dimensions. Start with {@link
 * io.github.gpujoin.flink.runtime.StarJoinOperator}. A {@code FactOrder} decides in which order
 * facts are joined; a new order is a new class.
 */
package io.github.gpujoin.flink.runtime;
