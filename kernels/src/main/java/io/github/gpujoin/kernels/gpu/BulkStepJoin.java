// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.bulk.JoinSide;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Joins two tables in device memory, in one or several steps. Not thread-safe. */
final class BulkStepJoin {

    private final BulkJoinKind kind;
    private final BulkDevice device;
    private final BulkResultWriter writer;
    private final Map<JoinSide, Long> marks = new EnumMap<>(JoinSide.class);
    private final @Nullable BulkSelection selection;

    /**
     * Reserves the memory that remains from step to step.
     *
     * @param markedRows maximum rows of a table of each input with marks
     */
    BulkStepJoin(
            BulkJoinKind kind,
            BulkDevice device,
            BulkAllocator memory,
            BulkResultWriter writer,
            Map<JoinSide, Long> markedRows) {
        this.kind = kind;
        this.device = device;
        this.writer = writer;
        markedRows.forEach((side, rows) -> marks.put(side, memory.allocate(rows)));
        this.selection =
                marks.isEmpty()
                        ? null
                        : new BulkSelection(device, memory, writer.batchRows(), writer.needsRows());
    }

    /** Returns all rows of a table without a match. */
    BulkBatches unmatched(JoinSide side, BulkRows rows) {
        return BulkBatches.allRows(side, rows, writer.batchRows());
    }

    /**
     * Partitions two tables with rows, and returns the results of a step.
     *
     * @param memory of the step
     */
    List<BulkBatches> join(BulkAllocator memory, Map<JoinSide, BulkRows> tables, BulkStep step) {
        BulkMatcher matcher =
                new BulkMatcher(
                        device,
                        memory,
                        tables.get(JoinSide.LEFT),
                        tables.get(JoinSide.RIGHT),
                        step.returnsPairs() && writer.needsRows());
        matcher.partition();
        List<BulkBatches> batches = new ArrayList<>();
        if (step.returnsPairs()) {
            batches.add(pairs(matcher));
        }
        step.marks()
                .forEach(
                        (side, part) -> batches.add(marked(matcher, side, tables.get(side), part)));
        return batches;
    }

    private BulkBatches pairs(BulkMatcher matcher) {
        return writer.needsRows()
                ? () -> matcher.nextPairs(writer.batchRows())
                : BulkBatches.counted(matcher::countPairs);
    }

    private BulkBatches marked(
            BulkMatcher matcher, JoinSide side, BulkRows rows, BulkStep.Marks part) {
        long address = marks.get(side);
        BulkBatches.Marking marking = () -> matcher.mark(side, address, part.isFirst());
        boolean wanted = kind == BulkJoinKind.SEMI;
        return part.isLast()
                ? BulkBatches.selectedRows(selection, side, rows, marking, address, wanted)
                : BulkBatches.marked(marking);
    }
}
