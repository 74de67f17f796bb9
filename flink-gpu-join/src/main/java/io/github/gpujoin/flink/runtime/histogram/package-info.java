// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The global histogram of the partitioned dimension. Subtasks of the join report their build rows
 * by radix partition to the operator's coordinator, which answers with the sums of the job and of
 * the subtask's process.
 */
package io.github.gpujoin.flink.runtime.histogram;
