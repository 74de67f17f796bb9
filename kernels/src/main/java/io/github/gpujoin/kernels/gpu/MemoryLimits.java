// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.region.MemoryRefusedException;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;

/**
 * Limits on the memory of one engine. Thread-safe.
 *
 * @param budget limits all engines of the class loader together
 * @param hostMemory reserved for each pinned buffer and each page of variable-width columns, before
 *     it is allocated
 */
record MemoryLimits(MemoryBudget budget, MemoryReservations hostMemory) {

    /** Limits by a budget alone. */
    static MemoryLimits of(MemoryBudget budget) {
        return new MemoryLimits(budget, MemoryReservations.unlimited());
    }

    MemoryLimits withBudget(MemoryBudget other) {
        return new MemoryLimits(other, hostMemory);
    }

    /**
     * Reserves host memory.
     *
     * @throws GpuUnavailableException with OUT_OF_DEVICE_MEMORY if the engine's owner has no room
     */
    void reserveHost(long lengthBytes) {
        try {
            hostMemory.reserve(lengthBytes);
        } catch (MemoryRefusedException e) {
            throw new GpuUnavailableException(
                    GpuFailure.OUT_OF_DEVICE_MEMORY,
                    "No host memory is left for a GPU's buffers: lengthBytes="
                            + lengthBytes
                            + ". "
                            + e.getMessage(),
                    e);
        }
    }
}
