// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

/**
 * Inner equi-join of two tables in the memory of one device. Keys may repeat in both tables.
 *
 * <p>The serving kernel must be stopped, as it occupies the device. Not thread-safe.
 */
interface DeviceTableJoin {

    /** Returns the workspace that a join needs; of the tables, only the numbers of rows count. */
    long workspaceBytes(ResidentCall.Table build, ResidentCall.Table probe);

    /**
     * Queues the join. The memory of inputs, results and workspace does not overlap.
     *
     * @param workspace device address of {@link #workspaceBytes}, a multiple of {@link
     *     ResidentCall#ALIGNMENT_BYTES}
     */
    void start(
            ResidentCall.Table build,
            ResidentCall.Table probe,
            ResidentCall.Matches matches,
            long workspace);
}
