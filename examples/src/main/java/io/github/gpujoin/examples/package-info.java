// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The command lines of the examples: joins of two files, star schema queries and a join of SQL
 * tables. Start with {@link io.github.gpujoin.examples.FileJoin}, the smallest complete job.
 */
package io.github.gpujoin.examples;
