// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

/**
 * The part of a divided build side whose tables are in one location.
 *
 * @param location of the tables
 * @param isSharded whether each member of a device group has other rows of the tables
 * @param partitionGroupCount at least 1
 * @param partitionCount radix partitions of those groups
 * @param buildBytes bytes of their build rows, as submitted
 */
public record TierUsage(
        TableLocation location,
        boolean isSharded,
        int partitionGroupCount,
        int partitionCount,
        long buildBytes) {

    public MemoryTier tier() {
        return location.tier();
    }
}
