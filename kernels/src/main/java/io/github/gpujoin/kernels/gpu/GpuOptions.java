package io.github.gpujoin.kernels.gpu;

import java.io.Serializable;
import java.util.concurrent.TimeUnit;

/**
 * Sizes and limits of an engine.
 *
 * @param device number of the device among those the process sees
 * @param slots segments of facts that may be under way at once
 * @param segmentRows most rows of a segment, and of a result batch
 * @param memory limits on device memory and pinned host memory
 * @param stallTimeoutNs time without progress after which the kernel is given up
 * @param gridMode how thread blocks are dealt to partitions; the same for all engines of a device
 */
public record GpuOptions(
        int device,
        int slots,
        int segmentRows,
        MemoryBudget memory,
        long stallTimeoutNs,
        GridMode gridMode)
        implements Serializable {

    private static final long serialVersionUID = 1L;
    private static final int MAX_SEGMENT_ROWS = 1 << 20;

    public GpuOptions {
        if (slots < 1 || slots > StepRing.ENTRIES) {
            throw new IllegalArgumentException(
                    "an engine has from 1 to " + StepRing.ENTRIES + " slots: slots=" + slots);
        }
        if (segmentRows < 1 || segmentRows > MAX_SEGMENT_ROWS) {
            throw new IllegalArgumentException(
                    "a segment has from 1 to "
                            + MAX_SEGMENT_ROWS
                            + " rows: segmentRows="
                            + segmentRows);
        }
    }

    public static GpuOptions defaults() {
        return new GpuOptions(
                0,
                32,
                16 << 10,
                MemoryBudget.byMachine(),
                TimeUnit.SECONDS.toNanos(30),
                GridMode.ADAPTIVE);
    }

    public GpuOptions withDevice(int device) {
        return new GpuOptions(device, slots, segmentRows, memory, stallTimeoutNs, gridMode);
    }

    public GpuOptions withSlots(int slots, int segmentRows) {
        return new GpuOptions(device, slots, segmentRows, memory, stallTimeoutNs, gridMode);
    }

    public GpuOptions withMemory(MemoryBudget memory) {
        return new GpuOptions(device, slots, segmentRows, memory, stallTimeoutNs, gridMode);
    }

    public GpuOptions withStallTimeoutNs(long stallTimeoutNs) {
        return new GpuOptions(device, slots, segmentRows, memory, stallTimeoutNs, gridMode);
    }

    public GpuOptions withGridMode(GridMode gridMode) {
        return new GpuOptions(device, slots, segmentRows, memory, stallTimeoutNs, gridMode);
    }
}
