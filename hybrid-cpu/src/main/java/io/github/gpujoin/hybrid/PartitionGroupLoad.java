// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

/**
 * The memory demand and the probe load of a partition group.
 *
 * @param deviceBytes expected size of its tables on the device
 * @param hostBytes expected size of its tables on the host
 * @param probeShare its share of all recent probe rows, from 0 to 1
 * @param tier the current tier
 */
record PartitionGroupLoad(long deviceBytes, long hostBytes, double probeShare, MemoryTier tier) {

    long bytes(MemoryTier target) {
        return target == MemoryTier.DEVICE ? deviceBytes : hostBytes;
    }
}
