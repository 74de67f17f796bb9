// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

/**
 * The memory demand and the probe load of a partition group.
 *
 * @param deviceBytes expected size of its tables on one member of the device group
 * @param eachBytes expected size on each member if all of them probe the tables
 * @param hostBytes expected size of its tables on the host
 * @param probeShare its share of all recent probe rows, from 0 to 1
 * @param location the current one
 */
record PartitionGroupLoad(
        long deviceBytes,
        long eachBytes,
        long hostBytes,
        double probeShare,
        TableLocation location) {

    MemoryTier tier() {
        return location.tier();
    }

    /** Returns the expected size of one copy of its tables. */
    long bytes(MemoryTier target) {
        return target == MemoryTier.DEVICE ? deviceBytes : hostBytes;
    }
}
