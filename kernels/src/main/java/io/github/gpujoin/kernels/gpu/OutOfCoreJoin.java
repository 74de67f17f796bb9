// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Joins stored inputs step by step. While a step computes, the inputs of the next one are copied to
 * the device. Not thread-safe.
 */
final class OutOfCoreJoin implements BulkSteps {

    private static final int BUFFERS = 2;

    private final BulkDevice device;
    private final BulkResultWriter writer;
    private final RunStore store;
    private final BulkJoinKind kind;
    private final Map<JoinSide, BulkRunLayout> layouts;
    private final List<OutOfCorePlan.Step> steps;
    private final StepBuffer[] buffers = new StepBuffer[BUFFERS];
    private final BulkArena arena;
    private final BulkStepJoin join;
    private int nextStep;
    private int loadedSteps;

    private OutOfCoreJoin(
            BulkDevice device,
            BulkAllocator memory,
            BulkResultWriter writer,
            RunStore store,
            BulkJoinKind kind,
            Map<JoinSide, BulkRunLayout> layouts,
            List<OutOfCorePlan.Step> steps) {
        this.device = device;
        this.writer = writer;
        this.store = store;
        this.kind = kind;
        this.layouts = layouts;
        this.steps = steps;
        this.join = new BulkStepJoin(kind, device, memory, writer, markedRows());
        long inputBytes = 0;
        for (OutOfCorePlan.Step step : steps) {
            inputBytes = Math.max(inputBytes, StepBuffer.lengthBytes(layouts, step));
        }
        for (int i = 0; i < Math.min(BUFFERS, steps.size()); i++) {
            buffers[i] = new StepBuffer(device, memory, store, layouts, inputBytes);
        }
        long arenaBytes = arenaBytes(memory);
        this.arena = new BulkArena(memory.allocate(arenaBytes), arenaBytes);
    }

    /** Returns the device memory with which a join of any inputs succeeds. */
    static long leastBytes(
            BulkJoinKind kind, BulkResultWriter writer, Map<JoinSide, BulkRunLayout> layouts) {
        long bytes = OutOfCorePlan.leastBytes(layouts);
        for (JoinSide side : JoinSide.values()) {
            if (BulkStep.needsMarks(kind, side)) {
                bytes += BulkSelection.lengthBytes(writer.batchRows(), writer.needsRows());
            }
        }
        return bytes;
    }

    /**
     * Allocates all memory of a join. If steps of the available size are refused, it tries smaller
     * ones, and those for which the reserve suffices at last.
     *
     * @param reserve of at least {@link #leastBytes}, unused
     */
    static OutOfCoreJoin create(
            BulkDevice device,
            BulkArena reserve,
            BulkResultWriter writer,
            RunStore store,
            BulkJoinKind kind,
            Map<JoinSide, BulkRunLayout> layouts,
            StoredInputs inputs) {
        long limitBytes = Math.max(reserve.lengthBytes(), device.availableBytes());
        while (true) {
            boolean isReserved = limitBytes <= reserve.lengthBytes();
            OutOfCorePlan plan = new OutOfCorePlan(kind, layouts, inputs, limitBytes);
            BulkMemory memory = device.newMemory();
            try {
                return new OutOfCoreJoin(
                        device,
                        isReserved ? reserve : memory,
                        writer,
                        store,
                        kind,
                        layouts,
                        plan.steps());
            } catch (GpuUnavailableException e) {
                if (e.failure() != GpuFailure.OUT_OF_DEVICE_MEMORY
                        || (isReserved && plan.isSmallest())) {
                    throw e;
                }
                memory.close();
                reserve.reset();
                limitBytes =
                        plan.isSmallest() ? reserve.lengthBytes() : limitBytes - limitBytes / 4;
            }
        }
    }

    int stepCount() {
        return steps.size();
    }

    /** Returns the rows of the longest table of each input with marks. */
    private Map<JoinSide, Long> markedRows() {
        Map<JoinSide, Long> rows = new EnumMap<>(JoinSide.class);
        for (OutOfCorePlan.Step step : steps) {
            step.results()
                    .marks()
                    .keySet()
                    .forEach(side -> rows.merge(side, step.rows(side), Math::max));
        }
        return rows;
    }

    /** Returns what the matcher of the largest step needs. */
    private long arenaBytes(BulkAllocator memory) {
        int wordBytes = layouts.get(JoinSide.LEFT).wordBytes();
        ResidentJoin planner =
                ResidentJoin.ofRuns(
                        device, layouts.get(JoinSide.LEFT), memory.allocate(ResidentCall.BYTES));
        long most = 0;
        for (OutOfCorePlan.Step step : steps) {
            if (step.isJoin()) {
                long left = step.rows(JoinSide.LEFT);
                long right = step.rows(JoinSide.RIGHT);
                long workspaceBytes =
                        device.whileStopped(
                                () ->
                                        planner.workspaceBytes(
                                                ResidentCall.Table.ofRuns(0, Math.min(left, right)),
                                                ResidentCall.Table.ofRuns(
                                                        0, Math.max(left, right))));
                boolean needsPairs = step.results().returnsPairs() && writer.needsRows();
                long pairBytes =
                        needsPairs
                                ? BulkMatcher.pairBytes(wordBytes, Math.max(left, right))
                                : 2L * Long.BYTES;
                most = Math.max(most, workspaceBytes + pairBytes);
            }
        }
        return most + ResidentCall.BYTES + 8 * BulkArena.ALIGNMENT_BYTES;
    }

    @Override
    public @Nullable List<BulkBatches> next() throws InterruptedException {
        if (nextStep == steps.size()) {
            return null;
        }
        device.awaitKernels(); // of the step before, whose buffer is loaded
        load(nextStep);
        if (nextStep + 1 < steps.size()) {
            load(nextStep + 1);
        }
        OutOfCorePlan.Step step = steps.get(nextStep);
        Map<JoinSide, BulkRows> tables = buffers[nextStep % BUFFERS].rows();
        nextStep++;
        arena.reset();
        if (step.isJoin()) {
            return join.join(arena, tables, step.results());
        }
        List<BulkBatches> batches = new ArrayList<>();
        tables.forEach(
                (side, rows) -> {
                    if (rows.rowCount() > 0) {
                        batches.add(join.unmatched(side, rows));
                    }
                });
        return batches;
    }

    private void load(int step) throws InterruptedException {
        if (step == loadedSteps) {
            buffers[step % BUFFERS].load(steps.get(step));
            loadedSteps++;
        }
    }
}
