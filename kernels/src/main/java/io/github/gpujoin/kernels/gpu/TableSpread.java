// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

/** How the tables of a join are spread over the devices of a group. */
public enum TableSpread {
    /**
     * REPLICATED if a table fits every device and has no changelog, otherwise SHARDED if they can
     * access each other. A table may also be on one device alone, see {@link
     * GpuJoinEngine#forkLoading(int, int)}.
     */
    BY_SIZE,
    /** Each device has the whole table, and looks up keys in its own memory. */
    REPLICATED,
    /**
     * Each device has the rows of some keys, and looks up others in the memory of their device. One
     * device has the whole table.
     */
    SHARDED
}
