// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import java.io.Serializable;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Sizes and limits of an engine.
 *
 * @param devices numbers of the devices that join together, among those visible to the process,
 *     ascending; empty for all of them
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
 * @param spread of tables over several devices
 * @param peerAccess whether devices access each other's memory, if the hardware connects them
 * @param share of the bus of each device, beside other joins
 * @param bulkThreads threads of each bulk join, from 0 to 64, that copy between chunks and pinned
 *     memory, for each of its devices as far as there are processors; with 0 the thread of the join
 *     does
 * @param virtualDevices members of the group on each device, each with its part of the
 *     multiprocessors; more than 1 tests groups on one device
 */
public record GpuOptions(
        List<Integer> devices,
        int slots,
        int segmentRows,
        RingMemory ringMemory,
        MemoryBudget memory,
        long stallTimeoutNs,
        GridMode gridMode,
        boolean encodeSegments,
        boolean packResults,
        TableSpread spread,
        boolean peerAccess,
        JoinShare share,
        int bulkThreads,
        int virtualDevices)
        implements Serializable {

    private static final long serialVersionUID = 1L;
    static final int MAX_SEGMENT_ROWS = 1 << 20;

    /** Maximum of {@link #bulkThreads}. */
    public static final int MAX_BULK_THREADS = 64;

    /** As many threads copy as fast as the bus of an H200, in and out at once. */
    private static final int BUS_THREADS = 8;

    /** All devices visible to the process. */
    public static final List<Integer> ALL_DEVICES = List.of();

    /**
     * Checks the options.
     *
     * @throws IllegalArgumentException if a device is named twice, or a size is out of range
     */
    public GpuOptions {
        List<Integer> distinct = devices.stream().distinct().sorted().toList();
        if (distinct.size() < devices.size()) {
            throw new IllegalArgumentException(
                    "A device is named twice: devices=" + devices + ". Name each device once.");
        }
        devices = distinct;
        if (virtualDevices < 1) {
            throw new IllegalArgumentException(
                    "Virtual devices must be positive: virtualDevices=" + virtualDevices);
        }
        if (bulkThreads < 0 || bulkThreads > MAX_BULK_THREADS) {
            throw new IllegalArgumentException(
                    "Bulk threads out of range 0 to "
                            + MAX_BULK_THREADS
                            + ": bulkThreads="
                            + bulkThreads);
        }
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
                List.of(0),
                64,
                8 << 10,
                RingMemory.HOST,
                MemoryBudget.byMachine(),
                TimeUnit.SECONDS.toNanos(30),
                GridMode.ADAPTIVE,
                false,
                true,
                TableSpread.BY_SIZE,
                true,
                JoinShare.OF_ENGINE,
                Math.min(BUS_THREADS, Runtime.getRuntime().availableProcessors()),
                1);
    }

    /** Returns the first device. */
    public int device() {
        return devices.isEmpty() ? 0 : devices.get(0);
    }

    public GpuOptions withDevice(int device) {
        return withDevices(List.of(device));
    }

    /** Returns options for a group of devices that join together. */
    public GpuOptions withDevices(List<Integer> devices) {
        return with(changed -> changed.devices = devices);
    }

    public GpuOptions withSlots(int slots, int segmentRows) {
        return with(
                changed -> {
                    changed.slots = slots;
                    changed.segmentRows = segmentRows;
                });
    }

    public GpuOptions withRingMemory(RingMemory ringMemory) {
        return with(changed -> changed.ringMemory = ringMemory);
    }

    public GpuOptions withMemory(MemoryBudget memory) {
        return with(changed -> changed.memory = memory);
    }

    public GpuOptions withStallTimeoutNs(long stallTimeoutNs) {
        return with(changed -> changed.stallTimeoutNs = stallTimeoutNs);
    }

    public GpuOptions withGridMode(GridMode gridMode) {
        return with(changed -> changed.gridMode = gridMode);
    }

    public GpuOptions withEncodeSegments(boolean encodeSegments) {
        return with(changed -> changed.encodeSegments = encodeSegments);
    }

    public GpuOptions withPackResults(boolean packResults) {
        return with(changed -> changed.packResults = packResults);
    }

    public GpuOptions withSpread(TableSpread spread) {
        return with(changed -> changed.spread = spread);
    }

    public GpuOptions withPeerAccess(boolean peerAccess) {
        return with(changed -> changed.peerAccess = peerAccess);
    }

    /** Returns options for a join that shares devices with others. */
    public GpuOptions withShare(JoinShare share) {
        return with(changed -> changed.share = share);
    }

    /** Returns options for the engines of one join, a new one if they name none. */
    public GpuOptions ofOneJoin() {
        return withShare(share.ofOneJoin());
    }

    public GpuOptions withBulkThreads(int bulkThreads) {
        return with(changed -> changed.bulkThreads = bulkThreads);
    }

    /** Returns options for tests of groups with fewer devices than members. */
    public GpuOptions withVirtualDevices(int virtualDevices) {
        return with(changed -> changed.virtualDevices = virtualDevices);
    }

    private GpuOptions with(Consumer<Builder> change) {
        Builder changed = new Builder(this);
        change.accept(changed);
        return changed.build();
    }

    /** Options that may be changed one by one. */
    private static final class Builder {

        private List<Integer> devices;
        private int slots;
        private int segmentRows;
        private RingMemory ringMemory;
        private MemoryBudget memory;
        private long stallTimeoutNs;
        private GridMode gridMode;
        private boolean encodeSegments;
        private boolean packResults;
        private TableSpread spread;
        private boolean peerAccess;
        private JoinShare share;
        private int bulkThreads;
        private int virtualDevices;

        Builder(GpuOptions from) {
            devices = from.devices;
            slots = from.slots;
            segmentRows = from.segmentRows;
            ringMemory = from.ringMemory;
            memory = from.memory;
            stallTimeoutNs = from.stallTimeoutNs;
            gridMode = from.gridMode;
            encodeSegments = from.encodeSegments;
            packResults = from.packResults;
            spread = from.spread;
            peerAccess = from.peerAccess;
            share = from.share;
            bulkThreads = from.bulkThreads;
            virtualDevices = from.virtualDevices;
        }

        GpuOptions build() {
            return new GpuOptions(
                    devices,
                    slots,
                    segmentRows,
                    ringMemory,
                    memory,
                    stallTimeoutNs,
                    gridMode,
                    encodeSegments,
                    packResults,
                    spread,
                    peerAccess,
                    share,
                    bulkThreads,
                    virtualDevices);
        }
    }
}
