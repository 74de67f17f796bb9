// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * The inputs of a join beyond device memory, while they are loaded: rows that are joined are
 * divided by partition, the others are stored as they are. Not thread-safe.
 */
final class OutOfCoreLoading {

    /** More would make open runs larger than their use; inputs of ten times the device fit. */
    private static final int MOST_PARTITIONS = 64;

    private final BulkDevice device;
    private final BulkMemory memory;
    private final BulkArena reserve;
    private final RunStore store;
    private final Map<JoinSide, BulkRunLayout> layouts;
    private final Map<JoinSide, RunPartitioner> partitioners = new EnumMap<>(JoinSide.class);
    private final Map<JoinSide, List<StoredRun>> unjoined = new EnumMap<>(JoinSide.class);

    private OutOfCoreLoading(
            BulkDevice device,
            BulkMemory memory,
            BulkArena reserve,
            RunStore store,
            Map<JoinSide, BulkRunLayout> layouts,
            int partitions) {
        this.device = device;
        this.memory = memory;
        this.reserve = reserve;
        this.store = store;
        this.layouts = layouts;
        BulkAllocator allocator = isReserved(reserve, layouts, partitions) ? reserve : memory;
        for (JoinSide side : JoinSide.values()) {
            BulkRunLayout layout = layouts.get(side);
            partitioners.put(
                    side, new RunPartitioner(device, allocator, layout, store, partitions));
            unjoined.put(side, new ArrayList<>());
        }
    }

    /**
     * Returns what a join reserves for this phase.
     *
     * @param limitBytes exceeded only by the bytes of one partition
     */
    static long reserveBytes(Map<JoinSide, BulkRunLayout> layouts, long limitBytes) {
        return memoryBytes(layouts, partitionsWithin(layouts, limitBytes));
    }

    private static int partitionsWithin(Map<JoinSide, BulkRunLayout> layouts, long limitBytes) {
        int partitions = MOST_PARTITIONS;
        while (partitions > 1 && memoryBytes(layouts, partitions) > limitBytes) {
            partitions /= 2;
        }
        return partitions;
    }

    private static boolean isReserved(
            BulkArena reserve, Map<JoinSide, BulkRunLayout> layouts, int partitions) {
        return memoryBytes(layouts, partitions) <= reserve.lengthBytes();
    }

    /**
     * Allocates at most half of what is available, if more partitions fit than in the reserve. If
     * it is refused, because other joins use the device, fewer partitions follow.
     *
     * @param reserve of at least {@link #reserveBytes}, unused
     */
    static OutOfCoreLoading create(
            BulkDevice device,
            BulkArena reserve,
            RunStore store,
            Map<JoinSide, BulkRunLayout> layouts) {
        long limitBytes = Math.max(reserve.lengthBytes(), device.availableBytes() / 2);
        int partitions = partitionsWithin(layouts, limitBytes);
        while (true) {
            BulkMemory memory = device.newMemory();
            try {
                return new OutOfCoreLoading(device, memory, reserve, store, layouts, partitions);
            } catch (GpuUnavailableException e) {
                if (e.failure() != GpuFailure.OUT_OF_DEVICE_MEMORY
                        || isReserved(reserve, layouts, partitions)) {
                    throw e;
                }
                memory.close();
                partitions /= 2;
            }
        }
    }

    private static long memoryBytes(Map<JoinSide, BulkRunLayout> layouts, int partitions) {
        long runs = RunPartitioner.memoryRuns(partitions);
        return layouts.values().stream().mapToLong(layout -> runs * layout.lengthBytes()).sum();
    }

    DeviceCopy addJoined(JoinSide side, long pinnedRun, int rows) throws InterruptedException {
        return partitioners.get(side).add(pinnedRun, rows);
    }

    DeviceCopy addUnjoined(JoinSide side, long pinnedRun, int rows) {
        int bytes = layouts.get(side).lengthBytes();
        unjoined.get(side).add(store.add(pinnedRun, bytes, rows));
        return DeviceCopy.NONE;
    }

    /** Receives the rows of runs in device memory, which the caller may free afterwards. */
    void moveJoined(JoinSide side, List<Long> runs, long rows) throws InterruptedException {
        partitioners.get(side).divideAll(runs, rows);
    }

    void moveUnjoined(JoinSide side, DeviceRuns runs) throws InterruptedException {
        int bytes = runs.layout().lengthBytes();
        long rest = runs.rowCount();
        for (long run : runs.addresses()) {
            int rows = (int) Math.min(BulkRunLayout.RUN_ROWS, rest);
            rest -= rows;
            long address = store.reserve(bytes);
            if (address == 0) {
                unjoined.get(side).add(store.addToFile(run, bytes, rows));
            } else {
                device.awaitCopyToHost(device.startCopyToHost(address, run, bytes));
                unjoined.get(side).add(StoredRun.inMemory(address, rows));
            }
        }
    }

    /** Stores all rows, frees the memory of this phase, and returns the stored inputs. */
    StoredInputs finish() throws InterruptedException {
        Map<JoinSide, List<List<StoredRun>>> partitions = new EnumMap<>(JoinSide.class);
        for (JoinSide side : JoinSide.values()) {
            partitions.put(side, partitioners.get(side).finish());
        }
        memory.close();
        reserve.reset();
        return new StoredInputs(partitions, unjoined);
    }
}
