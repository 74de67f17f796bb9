// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

/** Receives the runs of one input of a bulk join. */
interface RunSink {

    /** The number of a copy that has ended. */
    long NO_COPY = -1;

    /**
     * Adds a run, or several adjacent ones. All are full, unless the last of them is the last one.
     *
     * @param pinnedRuns address of {@link BulkRunLayout#lengthBytes} bytes of pinned memory for
     *     each run
     * @param rows of all runs, at least 1
     * @return the copy to a device after which nothing reads the runs
     * @throws io.github.gpujoin.core.engine.EngineUnavailableException if there is no room, or a
     *     device or a file failed
     */
    DeviceCopy add(long pinnedRuns, int rows) throws InterruptedException;
}
