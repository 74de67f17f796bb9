// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

/**
 * The part of a divided build side that a memory tier holds.
 *
 * @param partitionGroupCount at least 1
 * @param partitionCount radix partitions of those groups
 * @param buildBytes bytes of their build rows, as submitted
 */
public record TierUsage(
        MemoryTier tier, int partitionGroupCount, int partitionCount, long buildBytes) {}
