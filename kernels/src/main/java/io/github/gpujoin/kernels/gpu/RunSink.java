// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

/** Receives the runs of one input of a bulk join. */
interface RunSink {

    /** The sink does not read the run after the call. */
    long NO_COPY = -1;

    /**
     * Adds a run, which is full unless it is the last one.
     *
     * @param pinnedRun address of {@link BulkRunLayout#lengthBytes} bytes of pinned memory
     * @return number of the copy to the device that reads the run, or {@link #NO_COPY}
     * @throws io.github.gpujoin.core.engine.EngineUnavailableException if there is no room, or a
     *     device or a file failed
     */
    long add(long pinnedRun, int rows) throws InterruptedException;
}
