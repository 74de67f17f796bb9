// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import java.io.Serializable;
import java.util.concurrent.TimeUnit;

/**
 * Sizes and limits of an engine.
 *
 * @param device number of the device among those visible to the process
 * @param slots maximum in-flight segments of facts, from 1 to 4096; each slot pins a segment and
 *     two result buffers
 * @param segmentRows maximum rows of a segment and of a result batch, from 1 to 2^20
 * @param ringMemory memory from which the kernel reads segments
 * @param memory limits of device memory and pinned host memory
 * @param stallTimeoutNs time without progress after which the kernel counts as stalled
 * @param gridMode how thread blocks are assigned to partitions; equal for all engines of a device
 * @param encodeSegments whether columns of facts are encoded for the bus where that saves bytes; it
 *     costs the calling thread more time than a copy
 * @param packResults whether results are packed for the bus if no fact can have more than one;
 *     results of other joins are always plain
 */
public record GpuOptions(
        int device,
        int slots,
        int segmentRows,
        RingMemory ringMemory,
        MemoryBudget memory,
        long stallTimeoutNs,
        GridMode gridMode,
        boolean encodeSegments,
        boolean packResults)
        implements Serializable {

    private static final long serialVersionUID = 1L;
    static final int MAX_SEGMENT_ROWS = 1 << 20;

    public GpuOptions {
        if (slots < 1 || slots > StepRing.ENTRIES) {
            throw new IllegalArgumentException(
                    "Slot count out of range 1 to " + StepRing.ENTRIES + ": slots=" + slots);
        }
        if (segmentRows < 1 || segmentRows > MAX_SEGMENT_ROWS) {
            throw new IllegalArgumentException(
                    "Segment rows out of range 1 to "
                            + MAX_SEGMENT_ROWS
                            + ": segmentRows="
                            + segmentRows);
        }
    }

    /**
     * Returns the default options: half a million in-flight rows for each engine. One engine then
     * reaches 89 % of the bus bandwidth of an H200, which is more than one thread can feed, and two
     * engines reach 95 %.
     *
     * <p>An engine pins up to 16 MiB for one 8-byte key and results of 12 bytes: 64 slots, each a
     * segment and two result buffers of 8192 rows.
     */
    public static GpuOptions defaults() {
        return new GpuOptions(
                0,
                64,
                8 << 10,
                RingMemory.HOST,
                MemoryBudget.byMachine(),
                TimeUnit.SECONDS.toNanos(30),
                GridMode.ADAPTIVE,
                false,
                true);
    }

    public GpuOptions withDevice(int device) {
        return new GpuOptions(
                device,
                slots,
                segmentRows,
                ringMemory,
                memory,
                stallTimeoutNs,
                gridMode,
                encodeSegments,
                packResults);
    }

    public GpuOptions withSlots(int slots, int segmentRows) {
        return new GpuOptions(
                device,
                slots,
                segmentRows,
                ringMemory,
                memory,
                stallTimeoutNs,
                gridMode,
                encodeSegments,
                packResults);
    }

    public GpuOptions withRingMemory(RingMemory ringMemory) {
        return new GpuOptions(
                device,
                slots,
                segmentRows,
                ringMemory,
                memory,
                stallTimeoutNs,
                gridMode,
                encodeSegments,
                packResults);
    }

    public GpuOptions withMemory(MemoryBudget memory) {
        return new GpuOptions(
                device,
                slots,
                segmentRows,
                ringMemory,
                memory,
                stallTimeoutNs,
                gridMode,
                encodeSegments,
                packResults);
    }

    public GpuOptions withStallTimeoutNs(long stallTimeoutNs) {
        return new GpuOptions(
                device,
                slots,
                segmentRows,
                ringMemory,
                memory,
                stallTimeoutNs,
                gridMode,
                encodeSegments,
                packResults);
    }

    public GpuOptions withGridMode(GridMode gridMode) {
        return new GpuOptions(
                device,
                slots,
                segmentRows,
                ringMemory,
                memory,
                stallTimeoutNs,
                gridMode,
                encodeSegments,
                packResults);
    }

    public GpuOptions withEncodeSegments(boolean encodeSegments) {
        return new GpuOptions(
                device,
                slots,
                segmentRows,
                ringMemory,
                memory,
                stallTimeoutNs,
                gridMode,
                encodeSegments,
                packResults);
    }

    public GpuOptions withPackResults(boolean packResults) {
        return new GpuOptions(
                device,
                slots,
                segmentRows,
                ringMemory,
                memory,
                stallTimeoutNs,
                gridMode,
                encodeSegments,
                packResults);
    }
}
