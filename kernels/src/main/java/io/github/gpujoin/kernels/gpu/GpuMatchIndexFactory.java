// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.EngineUnavailableException;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.symmetric.MatchIndex;
import io.github.gpujoin.core.symmetric.MatchIndexFactory;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import io.github.gpujoin.kernels.binding.KernelImage;
import java.util.List;

/**
 * Creates indexes on a GPU for symmetric joins.
 *
 * @param options whose first device, memory and stall timeout apply
 */
public record GpuMatchIndexFactory(GpuOptions options) implements MatchIndexFactory {

    private static final long serialVersionUID = 1L;

    /** Returns a factory of indexes on another device. */
    public GpuMatchIndexFactory onDevice(int device) {
        return new GpuMatchIndexFactory(options.withDevice(device));
    }

    @Override
    public String deviceName() {
        return "gpu";
    }

    /**
     * {@inheritDoc}
     *
     * @throws GpuUnavailableException if the device cannot be used or has no memory
     */
    @Override
    public MatchIndex create(List<Boolean> removesRows, MemoryReservations hostMemory) {
        return create(
                DeviceLease.acquire(options),
                options,
                removesRows,
                hostMemory,
                GpuMatchIndex.MATCH_CAPACITY);
    }

    /**
     * Creates an index on an open device.
     *
     * @param lease released by the index, and here if it is not created
     */
    static MatchIndex create(
            DeviceLease lease,
            GpuOptions options,
            List<Boolean> removesRows,
            MemoryReservations hostMemory,
            int matchCapacity) {
        BulkDevice device =
                new BulkDevice(
                        lease,
                        options,
                        hostMemory,
                        new BulkThreads(0),
                        List.of(KernelImage.SYMMETRIC),
                        0);
        return new GpuMatchIndex(
                device, removesRows, new MemoryLimits(options.memory(), hostMemory), matchCapacity);
    }

    @Override
    public EngineUnavailableException multiJoinUnsupported(int inputs) {
        return new GpuUnavailableException(
                GpuFailure.UNSUPPORTED_JOIN,
                "Kernels join two inputs, not several in steps: inputs="
                        + inputs
                        + ". Use the CPU, or joins one behind the other.");
    }
}
