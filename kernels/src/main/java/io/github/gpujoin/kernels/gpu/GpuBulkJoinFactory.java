// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.bulk.BulkJoin;
import io.github.gpujoin.core.bulk.BulkJoinFactory;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.region.MemoryReservations;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Creates {@link GpuBulkJoin}s on the first of the devices.
 *
 * @param options whose devices, memory and stall timeout apply
 */
public record GpuBulkJoinFactory(GpuOptions options) implements BulkJoinFactory {

    private static final long serialVersionUID = 1L;

    /** Returns a factory of joins on another device. */
    public GpuBulkJoinFactory onDevice(int device) {
        return new GpuBulkJoinFactory(options.withDevice(device));
    }

    @Override
    public String joinName() {
        return "gpu";
    }

    @Override
    public BulkJoin create(
            BulkJoinSpec spec, MemoryReservations hostMemory, @Nullable Path spillDirectory) {
        return new GpuBulkJoin(spec, options, hostMemory, spillDirectory);
    }
}
