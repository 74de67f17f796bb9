// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.bulk.BulkJoin;
import io.github.gpujoin.core.bulk.BulkJoinFactory;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.region.MemoryReservations;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Creates {@link GpuBulkJoin}s, each of which uses all devices of the options.
 *
 * @param options whose devices, memory and stall timeout apply
 */
public record GpuBulkJoinFactory(GpuOptions options) implements BulkJoinFactory {

    private static final long serialVersionUID = 1L;

    /**
     * Returns a factory of joins on other devices.
     *
     * @param devices their numbers; empty for all that are visible to the process
     */
    public GpuBulkJoinFactory onDevices(List<Integer> devices) {
        return new GpuBulkJoinFactory(options.withDevices(devices));
    }

    @Override
    public String joinName() {
        return "gpu";
    }

    @Override
    public boolean usesDevice() {
        return true;
    }

    @Override
    public BulkJoin create(
            BulkJoinSpec spec, MemoryReservations hostMemory, @Nullable Path spillDirectory) {
        return new GpuBulkJoin(spec, options, hostMemory, spillDirectory);
    }
}
