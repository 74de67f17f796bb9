// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

/**
 * The memory that holds the tables of a partition group, the fastest tier first.
 *
 * <pre>
 *   SPILLED --- tables are built from the log ----> DEVICE, HOST
 *   DEVICE, HOST --- tables are dropped ----------> SPILLED
 *   DEVICE &lt;-- built from the log, then swapped --> HOST, another member of the device group
 * </pre>
 *
 * <p>The replicated dimensions do not move: host and device each have their tables.
 */
public enum MemoryTier {
    /** Device memory, within the budget of the device. */
    DEVICE,
    /** Host memory, within the budget of the host. */
    HOST,
    /** No memory: the log holds the build rows, and tables exist only while they are probed. */
    SPILLED;

    /** Returns whether the tier holds tables permanently. */
    public boolean hasTables() {
        return this != SPILLED;
    }

    /** Returns whether this tier is as fast as the other or faster. */
    boolean isAtLeast(MemoryTier other) {
        return compareTo(other) <= 0;
    }
}
