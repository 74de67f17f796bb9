// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

/** What the thread of a bulk join waits for. */
public enum BulkWait {
    /** Kernels, and the copies of a few words between them. */
    KERNELS,
    /** Copies of runs in either direction. */
    BUS,
    /** Threads that copy between chunks and pinned memory. */
    THREADS,
    /** Calls of the driver that start copies of runs. */
    COPY_CALLS,
    /** Device memory that is allocated, and memory that is freed. */
    DEVICE_MEMORY,
    /** Memory that is pinned, {@link #PAGES} included. */
    PINNING,
    /** Pages of memory that the operating system provides before they are pinned. */
    PAGES
}
