// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.bulk.BulkJoin;
import io.github.gpujoin.core.bulk.BulkJoinFactory;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.region.MemoryReservations;
import java.nio.file.Path;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Bulk joins on devices that the CPU emulates, of which the last one fails: after a number of
 * driver calls, its driver fails every call. Closing it frees what the joins could not free.
 */
public final class FailingBulkDevice implements BulkJoinFactory, AutoCloseable {

    private static final long serialVersionUID = 1L;

    /** Small areas, of which each device allocates some. */
    private static final GpuOptions OPTIONS =
            GpuOptions.defaults().withMemory(new MemoryBudget(64 << 20, MemoryBudget.BY_MACHINE));

    private final transient HostBulkDevice[] devices;
    private final int goodCalls;

    /**
     * @param count number of devices
     * @param goodCalls calls of the last device that succeed
     */
    public FailingBulkDevice(int count, int goodCalls) {
        this.devices =
                IntStream.range(0, count)
                        .mapToObj(device -> new HostBulkDevice())
                        .toArray(HostBulkDevice[]::new);
        this.goodCalls = goodCalls;
        last().failAfter(goodCalls);
    }

    private HostBulkDevice last() {
        return devices[devices.length - 1];
    }

    /** Returns the calls of the last device. */
    public int calls() {
        return last().calls();
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
        return new GpuBulkJoin(spec, HostBulkDevice.group(OPTIONS, devices), spillDirectory, -1);
    }

    @Override
    public void close() {
        for (HostBulkDevice device : devices) {
            device.endProcess();
        }
    }
}
