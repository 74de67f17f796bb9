// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.binding;

/**
 * Kernels of a device that run one after the other, concurrently with those of other queues. Queues
 * of several devices wait for each other by marks, without the host. Not thread-safe.
 *
 * <p>Every method throws {@link GpuUnavailableException} if the driver returns an error.
 */
public interface KernelQueue extends AutoCloseable {

    /** Number of marks of a queue. */
    int MARKS = 3;

    /** Queues a kernel, see {@link CudaDriver#launchWithSharedMemory}. */
    void launch(String kernel, int blocks, int threads, int sharedBytes, long[]... arguments);

    /**
     * Marks the end of the kernels that are queued now.
     *
     * @param mark from 0 to {@link #MARKS} - 1; replaces the last mark of this number
     */
    void mark(int mark);

    /**
     * Lets kernels that are queued from now on wait for the last mark of a number of another queue,
     * which may belong to another device.
     */
    void await(KernelQueue other, int mark);

    /** Returns whether all queued kernels have ended. */
    boolean isIdle();

    /** Releases the queue. Queued kernels still run. */
    @Override
    void close();
}
