// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

/** Allocates device memory for a bulk join. */
interface BulkAllocator {

    /**
     * Allocates device memory with unspecified content, aligned to 256 bytes.
     *
     * @throws io.github.gpujoin.kernels.binding.GpuUnavailableException if there is no room
     */
    long allocate(long lengthBytes);

    /** Returns the bytes that may still be allocated, as far as the budget is concerned. */
    long availableBytes();
}
