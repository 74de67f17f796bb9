// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.bulk.BulkJoinPlan;
import io.github.gpujoin.core.bulk.BulkResult;
import org.jspecify.annotations.Nullable;

/**
 * Stores the inputs of a bulk join, and joins them: on one device or on a group. Not thread-safe,
 * except for the methods that return amounts.
 */
interface BulkEngine extends BulkInputs, AutoCloseable {

    /** Ends both inputs, and waits until no copy reads pinned runs any more. */
    void endLoading() throws InterruptedException;

    /**
     * Reserves the memory of the join after {@link #endLoading}, and starts it.
     *
     * @param isAscending whether the words of both inputs are in ascending order
     * @return how it joins, and why
     * @throws io.github.gpujoin.kernels.binding.GpuUnavailableException if the memory does not
     *     suffice, or a device failed
     */
    BulkJoinPlan start(boolean isAscending) throws InterruptedException;

    /**
     * Returns the next result.
     *
     * @return null if none is ready in time, or no result is left
     */
    @Nullable BulkResult next(long timeoutNs) throws InterruptedException;

    /** Returns whether {@link #next} has returned all results. */
    boolean isExhausted();

    /** Returns the number of results that are ready. */
    int waitingResults();

    /** Returns the device memory and pinned memory in bytes. Any thread may call. */
    long memoryBytes();

    /** Returns the bytes in files. Any thread may call. */
    long fileBytes();

    /**
     * Returns the time in nanoseconds that the threads of the join have waited; of threads that
     * waited at once, the longest time. Any thread may call.
     */
    long waitedNs(BulkWait wait);

    /** Ends all threads, so that the caller may free what results refer to. */
    void stop();

    /** Stops the join, and frees all memory. */
    @Override
    void close();
}
