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
    /** Memory that is pinned or freed, {@link #PAGES} included. */
    PINNING,
    /** Pages of memory that the operating system provides before they are pinned. */
    PAGES
}
