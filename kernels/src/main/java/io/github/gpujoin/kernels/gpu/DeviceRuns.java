// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.ArrayList;
import java.util.List;

/**
 * Runs of one input that stay in device memory. Memory is allocated for several runs at once. Not
 * thread-safe.
 */
final class DeviceRuns implements RunSink {

    private static final long SLAB_BYTES = 64L << 20;

    private final BulkDevice device;
    private final BulkMemory memory;
    private final BulkRunLayout layout;
    private final List<Long> runs = new ArrayList<>();
    private long nextRun;
    private long slabEnd;
    private long rowCount;

    DeviceRuns(BulkDevice device, BulkMemory memory, BulkRunLayout layout) {
        this.device = device;
        this.memory = memory;
        this.layout = layout;
    }

    BulkRunLayout layout() {
        return layout;
    }

    long rowCount() {
        return rowCount;
    }

    /** Returns the device addresses of the runs, of which all but the last are full. */
    List<Long> addresses() {
        return runs;
    }

    /** Returns the device memory that the next run needs in addition. */
    long nextBytes() {
        return nextRun == slabEnd ? slabBytes() : 0;
    }

    /** Small inputs use a run each; then slabs grow, so that the unused share stays small. */
    private long slabBytes() {
        long slabRuns = Math.min(SLAB_BYTES / layout.lengthBytes(), (runs.size() + 3) / 4);
        return layout.lengthBytes() * Math.max(1, slabRuns);
    }

    /**
     * Allocates the memory of the next run.
     *
     * @return false if it is refused
     */
    boolean reserveNext() {
        if (nextRun < slabEnd) {
            return true;
        }
        long slabBytes = slabBytes();
        try {
            nextRun = memory.allocate(slabBytes);
        } catch (GpuUnavailableException e) {
            if (e.failure() != GpuFailure.OUT_OF_DEVICE_MEMORY) {
                throw e;
            }
            return false;
        }
        slabEnd = nextRun + slabBytes;
        return true;
    }

    /** Adds a run, for which memory is allocated. */
    @Override
    public long add(long pinnedRun, int rows) {
        long copy = device.startCopy(nextRun, pinnedRun, layout.lengthBytes());
        runs.add(nextRun);
        nextRun += layout.lengthBytes();
        rowCount += rows;
        return copy;
    }

    /** Returns all rows, with the addresses of the runs on the device. */
    BulkRows rows() {
        return rowCount == 0
                ? new BulkRows(layout, 0, 0)
                : new BulkRows(layout, copyAddresses(), rowCount);
    }

    private long copyAddresses() {
        long bytes = (long) Long.BYTES * runs.size();
        long addresses = memory.allocate(bytes);
        try (Region region = Region.allocate(bytes)) {
            for (int i = 0; i < runs.size(); i++) {
                Memory.putLong(region.address() + (long) Long.BYTES * i, runs.get(i));
            }
            device.copyToDevice(addresses, region);
        }
        return addresses;
    }
}
