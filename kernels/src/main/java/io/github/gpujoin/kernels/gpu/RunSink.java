// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

/** Receives the runs of one input of a bulk join. */
interface RunSink {

    /** The number of a copy that has ended. */
    long NO_COPY = -1;

    /**
     * Adds a run, which is full unless it is the last one.
     *
     * @param pinnedRun address of {@link BulkRunLayout#lengthBytes} bytes of pinned memory
     * @return the copy to a device that reads the run
     * @throws io.github.gpujoin.core.engine.EngineUnavailableException if there is no room, or a
     *     device or a file failed
     */
    DeviceCopy add(long pinnedRun, int rows) throws InterruptedException;
}
