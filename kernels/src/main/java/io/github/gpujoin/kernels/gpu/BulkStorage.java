// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.bulk.BulkAlgorithm;
import io.github.gpujoin.core.bulk.BulkJoinPlan;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * Both inputs of a join: in device memory, as long as they can be joined there, and else outside.
 * Not thread-safe, except for {@link #fileBytes}.
 */
final class BulkStorage implements BulkInputs, AutoCloseable {

    /** Tuples of the workspace for each row of both inputs, and of the larger one again. */
    private static final double WORKSPACE_TUPLES = 1.2;

    private static final long MIN_JOIN_BYTES = 4 << 20;

    /** A join reserves this share of the device memory to leave the device, if that suffices. */
    private static final int RESERVED_SHARE = 16;

    /** More partitions than fit in these bytes are only used if there is room when it leaves. */
    private static final long MAX_RESERVED_BYTES = 32 << 20;

    private final BulkJoinSpec spec;
    private final BulkDevice device;
    private final @Nullable Path directory;
    private final Map<JoinSide, BulkRunLayout> layouts = new EnumMap<>(JoinSide.class);
    private final BulkMemory residentMemory;
    private final BulkMemory keyMemory;
    private final Map<JoinSide, DeviceRuns> joined = new EnumMap<>(JoinSide.class);
    private final Map<JoinSide, DeviceRuns> unjoined = new EnumMap<>(JoinSide.class);

    /**
     * Device memory that is kept free, so that inputs that leave the device have more partitions
     * than the {@link #reserve} has room for, even if other joins leave it too.
     */
    private final long reservedBytes;

    private final BulkResultWriter writer;

    /** Device memory with which the inputs can leave the device, and be joined, at any time. */
    private final BulkMemory reserveMemory;

    private final BulkArena reserve;

    /** These are null while the inputs are in device memory. */
    private volatile @Nullable RunStore store;

    private @Nullable OutOfCoreLoading loading;

    /** Whether another owner reads runs in {@link #residentMemory}. */
    private boolean isLent;

    /**
     * Reserves all device memory that the join needs at least, apart from that for key bytes.
     *
     * @param directory of a file for rows that exceed the host memory; null to fail instead
     * @throws GpuUnavailableException if the memory does not suffice
     */
    BulkStorage(BulkJoinSpec spec, BulkDevice device, @Nullable Path directory) {
        this.spec = spec;
        this.device = device;
        this.directory = directory;
        this.residentMemory = device.newMemory();
        this.keyMemory = device.newMemory();
        for (JoinSide side : JoinSide.values()) {
            BulkRunLayout layout = new BulkRunLayout(spec, side);
            layouts.put(side, layout);
            joined.put(side, new DeviceRuns(device, residentMemory, layout));
            unjoined.put(side, new DeviceRuns(device, residentMemory, layout));
        }
        this.writer = BulkResultWriter.of(spec, device, device.newMemory(), layouts);
        long limitBytes = Math.min(MAX_RESERVED_BYTES, device.availableBytes() / RESERVED_SHARE);
        long bytes =
                Math.max(
                        OutOfCoreLoading.reserveBytes(layouts, limitBytes),
                        OutOfCoreJoin.leastBytes(spec.kind(), writer, layouts));
        this.reserveMemory = device.newMemory();
        this.reserve = new BulkArena(reserveMemory.allocate(bytes), bytes);
        this.reservedBytes = device.availableBytes() / 4;
    }

    @Override
    public BulkRunLayout layout(JoinSide side) {
        return layouts.get(side);
    }

    boolean isResident() {
        return loading == null;
    }

    /** Returns the bytes in files. Any thread may call. */
    long fileBytes() {
        RunStore opened = store;
        return opened == null ? 0 : opened.fileBytes();
    }

    @Override
    public RunSink joined(JoinSide side) {
        return (run, rows) -> {
            if (isStoredOnDevice(joined.get(side), rows)) {
                return joined.get(side).add(run, rows);
            }
            return loading.addJoined(side, run, rows);
        };
    }

    @Override
    public RunSink unjoined(JoinSide side) {
        return (run, rows) -> {
            if (isStoredOnDevice(unjoined.get(side), rows)) {
                return unjoined.get(side).add(run, rows);
            }
            return loading.addUnjoined(side, run, rows);
        };
    }

    /** Leaves the device if rows do not fit. */
    private boolean isStoredOnDevice(DeviceRuns runs, int rows) throws InterruptedException {
        if (isResident() && !reserve(runs, rows)) {
            leaveDevice();
        }
        return isResident();
    }

    /**
     * Reserves the memory of further rows, if the inputs can still be joined or leave with them.
     *
     * @param runs of this storage
     * @return false if there is no room, or the inputs have left
     */
    boolean reserve(DeviceRuns runs, long rows) {
        return fits(runs, rows) && runs.reserve(rows, roomBytes(rows));
    }

    /**
     * Reserves the memory of rows that other devices have loaded, in the same way.
     *
     * @return false if there is no room; {@link #cancelReplica} frees what was reserved
     */
    boolean reserveReplica(JoinSide side, long rows) {
        DeviceRuns runs = joined.get(side);
        return fits(runs, rows) && runs.reserveReplica(rows) && runs.reserveAppend();
    }

    /** Frees the memory of {@link #reserveReplica}, which was not used. */
    void cancelReplica(JoinSide side) {
        joined.get(side).cancelReplica();
    }

    private boolean fits(DeviceRuns runs, long rows) {
        return isResident()
                && runs.rowCount() + rows <= ResidentCall.MAX_ROWS
                && runs.neededBytes(rows) <= roomBytes(rows);
    }

    /** Returns the device memory that runs may take, if some of further rows are joined here. */
    private long roomBytes(long rows) {
        long left = joined.get(JoinSide.LEFT).rowCount();
        long right = joined.get(JoinSide.RIGHT).rowCount();
        double tuples = WORKSPACE_TUPLES * (left + right + rows + Math.max(left, right) + rows);
        double joinBytes = 2.0 * layouts.get(JoinSide.LEFT).wordBytes() * tuples + MIN_JOIN_BYTES;
        return device.availableBytes() - (long) Math.max(reservedBytes, joinBytes);
    }

    /** Frees all rows, which no kernel and no copy reads. */
    private void freeResident() {
        residentMemory.close();
        joined.values().forEach(DeviceRuns::freeReplica);
    }

    /**
     * Appends rows that are joined, from runs that kernels of the device can read, and that are
     * free after the call.
     *
     * @param rows of all runs, of which only the last may not be full
     */
    void append(JoinSide side, List<Long> runs, int rows) throws InterruptedException {
        DeviceRuns target = joined.get(side);
        if (isResident() && !(reserve(target, rows) && target.reserveAppend())) {
            leaveDevice();
        }
        if (isResident()) {
            target.append(runs, rows);
        } else {
            loading.moveJoined(side, runs, rows);
        }
    }

    /** Returns the joined rows of an input in device memory. */
    DeviceRuns joinedRuns(JoinSide side) {
        return joined.get(side);
    }

    /** Does the same with rows that have no match because of a null in their key. */
    DeviceRuns unjoinedRuns(JoinSide side) {
        return unjoined.get(side);
    }

    /**
     * Removes the rows of an input from the device. Their runs remain until {@link #endLoan}, also
     * if the inputs leave the device.
     */
    DeviceRuns.Lent lend(JoinSide side) {
        device.awaitCopies();
        isLent = true;
        return joined.get(side).lend();
    }

    /** Receives all lent runs, of which no kernel reads any. */
    void endLoan() {
        isLent = false;
        if (!isResident()) {
            freeResident();
        }
    }

    /**
     * Allocates device memory for key bytes, which remain there when the inputs leave the device.
     * If it is refused, the inputs leave.
     *
     * @throws GpuUnavailableException if it is also refused then
     */
    @Override
    public KeyArena.Slab allocateKeys(long lengthBytes) throws InterruptedException {
        Optional<KeyArena.Slab> slab = tryAllocateKeys(lengthBytes);
        if (slab.isEmpty() && isResident()) {
            leaveDevice();
            slab = tryAllocateKeys(lengthBytes);
        }
        return slab.orElseThrow(
                () ->
                        new GpuUnavailableException(
                                GpuFailure.OUT_OF_DEVICE_MEMORY,
                                "Key bytes of a bulk join exceed the device memory: keyBytes=%d, lengthBytes=%d, availableBytes=%d. Raise the budget, or join on the CPU."
                                        .formatted(
                                                keyMemory.lengthBytes(),
                                                lengthBytes,
                                                device.availableBytes())));
    }

    /** Does the same; returns nothing if it is refused while the inputs are where they are. */
    Optional<KeyArena.Slab> tryAllocateKeys(long lengthBytes) {
        return BulkAllocator.ifRoom(() -> keyMemory.allocate(lengthBytes))
                .map(address -> new KeyArena.Slab(device, address));
    }

    /** Moves the inputs out of the device, and divides them by partition. */
    void leaveDevice() throws InterruptedException {
        BulkMemory memory = device.newMemory();
        store = new RunStore(device, memory, directory, maxRunBytes());
        loading = OutOfCoreLoading.create(device, reserve, store, layouts);
        device.awaitCopies();
        for (JoinSide side : JoinSide.values()) {
            DeviceRuns runs = joined.get(side);
            loading.moveJoined(side, runs.addresses(), runs.rowCount());
            loading.moveUnjoined(side, unjoined.get(side));
        }
        if (!isLent) {
            freeResident();
        }
    }

    /** A join whose memory is reserved, what writes its results, and why it was chosen. */
    record Started(BulkSteps steps, BulkResultWriter writer, BulkJoinPlan plan) {}

    /**
     * Reserves the memory of the join after all rows were added, and all copies have ended.
     *
     * @param isAscending whether the words of both inputs are in ascending order
     * @throws GpuUnavailableException if the memory does not suffice
     */
    Started start(boolean isAscending) throws InterruptedException {
        if (isResident()) {
            BulkMemory memory = device.newMemory();
            try {
                Started started = startResident(memory, isAscending);
                reserveMemory.close();
                return started;
            } catch (GpuUnavailableException e) {
                if (e.failure() != GpuFailure.OUT_OF_DEVICE_MEMORY) {
                    throw e;
                }
                memory.close();
                leaveDevice();
            }
        }
        StoredInputs inputs = loading.finish();
        OutOfCoreJoin join =
                OutOfCoreJoin.create(device, reserve, writer, store, spec.kind(), layouts, inputs);
        return new Started(
                join,
                writer,
                new BulkJoinPlan(
                        BulkAlgorithm.GPU_OUT_OF_CORE,
                        "The inputs and the workspace exceed the device memory: steps=%d, fileBytes=%d."
                                .formatted(join.stepCount(), fileBytes())));
    }

    private Started startResident(BulkMemory memory, boolean isAscending) {
        Map<JoinSide, BulkRows> tables = new EnumMap<>(JoinSide.class);
        joined.forEach((side, runs) -> tables.put(side, runs.rows()));
        boolean canMatch = tables.values().stream().allMatch(rows -> rows.rowCount() > 0);
        BulkStep step = BulkStep.whole(spec.kind());
        Map<JoinSide, Long> markedRows = new EnumMap<>(JoinSide.class);
        if (canMatch) {
            step.marks().keySet().forEach(s -> markedRows.put(s, tables.get(s).rowCount()));
        }
        BulkStepJoin join = new BulkStepJoin(spec.kind(), device, memory, writer, markedRows);
        List<BulkBatches> batches = new ArrayList<>();
        for (JoinSide side : JoinSide.values()) {
            if (spec.kind().keepsUnmatched(side)) {
                batches.add(join.unmatched(side, unjoined.get(side).rows()));
                if (!canMatch) {
                    batches.add(join.unmatched(side, tables.get(side)));
                }
            }
        }
        BulkAlgorithm algorithm = BulkAlgorithm.GPU_RADIX;
        if (canMatch) {
            boolean isMerge = isAscending && writer.needsRows() && step.marks().isEmpty();
            BulkMerge merge = isMerge ? merge(tables) : null;
            if (merge == null) {
                batches.addAll(join.join(memory, tables, step));
            } else {
                algorithm = BulkAlgorithm.GPU_MERGE;
                batches.add(() -> merge.next(writer.batchRows()));
            }
        }
        Queue<List<BulkBatches>> only = new ArrayDeque<>(List.of(batches));
        return new Started(
                only::poll,
                writer,
                new BulkJoinPlan(algorithm, residentReason(algorithm, tables, isAscending)));
    }

    private static String residentReason(
            BulkAlgorithm algorithm, Map<JoinSide, BulkRows> tables, boolean isAscending) {
        long left = tables.get(JoinSide.LEFT).rowCount();
        long right = tables.get(JoinSide.RIGHT).rowCount();
        String sizes = "leftRows=%d, rightRows=%d.".formatted(left, right);
        if (algorithm == BulkAlgorithm.GPU_MERGE) {
            return "Both inputs are in the order of their keys: " + sizes;
        }
        JoinSide build = left < right ? JoinSide.LEFT : JoinSide.RIGHT;
        return "The inputs fit the device memory, and the smaller one builds: build=%s, %s"
                        .formatted(build, sizes)
                + (isAscending
                        ? " They are in the order of their keys, but the join marks rows or counts,"
                                + " or its pairs exceed the memory."
                        : "");
    }

    /** Returns the pairs of inputs that are in the order of their keys; null if they do not fit. */
    private @Nullable BulkMerge merge(Map<JoinSide, BulkRows> tables) {
        BulkMemory memory = device.newMemory();
        try {
            BulkMerge merge =
                    new BulkMerge(
                            device, memory, tables.get(JoinSide.LEFT), tables.get(JoinSide.RIGHT));
            if (merge.findAll()) {
                return merge;
            }
        } catch (GpuUnavailableException e) {
            if (e.failure() != GpuFailure.OUT_OF_DEVICE_MEMORY) {
                throw e;
            }
        }
        memory.close();
        return null;
    }

    /** Closes the file; the device frees the memory. */
    @Override
    public void close() {
        RunStore opened = store;
        if (opened != null) {
            opened.close();
        }
    }
}
