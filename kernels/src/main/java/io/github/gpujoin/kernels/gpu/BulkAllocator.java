// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.Optional;
import java.util.function.Supplier;

/** Allocates device memory for a bulk join. */
interface BulkAllocator {

    /** Returns what an action allocates; empty if the memory is refused. */
    static <T> Optional<T> ifRoom(Supplier<T> allocation) {
        try {
            return Optional.of(allocation.get());
        } catch (GpuUnavailableException e) {
            if (e.failure() != GpuFailure.OUT_OF_DEVICE_MEMORY) {
                throw e;
            }
            return Optional.empty();
        }
    }

    /**
     * Allocates device memory with unspecified content, aligned to 256 bytes.
     *
     * @throws GpuUnavailableException if there is no room
     */
    long allocate(long lengthBytes);

    /** Returns the bytes that may still be allocated, as far as the budget is concerned. */
    long availableBytes();
}
