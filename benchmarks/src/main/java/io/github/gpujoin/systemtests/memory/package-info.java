// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Samples the resident memory of a TaskManager process while jobs join build sides larger than its
 * managed memory. Start with {@link io.github.gpujoin.systemtests.memory.ProcessCluster}.
 */
package io.github.gpujoin.systemtests.memory;
