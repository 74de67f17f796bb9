package io.github.gpujoin.kernels.gpu;

import java.io.Serializable;
import java.util.concurrent.TimeUnit;

/**
 * Sizes and limits of an engine.
 *
 * @param device number of the device among those the process sees
 * @param slots segments of facts that may be under way at once; what is under way keeps the bus
 *     busy, and each slot pins a segment and two result buffers
 * @param segmentRows most rows of a segment, and of a result batch
 * @param ringMemory where the kernel reads segments from
 * @param memory limits on device memory and pinned host memory
 * @param stallTimeoutNs time without progress after which the kernel is given up
 * @param gridMode how thread blocks are dealt to partitions; the same for all engines of a device
 */
public record GpuOptions(
        int device,
        int slots,
        int segmentRows,
        RingMemory ringMemory,
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

    /**
     * Half a million rows under way for each engine. That is 89 % of what an H200's bus gives, more
     * than one thread can feed, and two engines reach 95 %. It pins, for one 8-byte key and results
     * of 12 bytes, 16 MiB an engine: slots times a segment and two result buffers of as many rows.
     */
    public static GpuOptions defaults() {
        return new GpuOptions(
                0,
                64,
                8 << 10,
                RingMemory.HOST,
                MemoryBudget.byMachine(),
                TimeUnit.SECONDS.toNanos(30),
                GridMode.ADAPTIVE);
    }

    public GpuOptions withDevice(int device) {
        return new GpuOptions(
                device, slots, segmentRows, ringMemory, memory, stallTimeoutNs, gridMode);
    }

    public GpuOptions withSlots(int slots, int segmentRows) {
        return new GpuOptions(
                device, slots, segmentRows, ringMemory, memory, stallTimeoutNs, gridMode);
    }

    public GpuOptions withRingMemory(RingMemory ringMemory) {
        return new GpuOptions(
                device, slots, segmentRows, ringMemory, memory, stallTimeoutNs, gridMode);
    }

    public GpuOptions withMemory(MemoryBudget memory) {
        return new GpuOptions(
                device, slots, segmentRows, ringMemory, memory, stallTimeoutNs, gridMode);
    }

    public GpuOptions withStallTimeoutNs(long stallTimeoutNs) {
        return new GpuOptions(
                device, slots, segmentRows, ringMemory, memory, stallTimeoutNs, gridMode);
    }

    public GpuOptions withGridMode(GridMode gridMode) {
        return new GpuOptions(
                device, slots, segmentRows, ringMemory, memory, stallTimeoutNs, gridMode);
    }
}
