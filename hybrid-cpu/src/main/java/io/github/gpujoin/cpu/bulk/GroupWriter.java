// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.bulk;

import io.github.gpujoin.core.bulk.BulkOutput;
import io.github.gpujoin.core.bulk.BulkResult;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.bulk.ResultSides;
import io.github.gpujoin.core.engine.JoinColumn;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.PagedMemory;
import io.github.gpujoin.cpu.GroupTable;
import io.github.gpujoin.cpu.LongColumn;
import java.util.EnumMap;
import java.util.Map;

/** Aggregates results by group. Passes a full table of groups on. Not thread-safe. */
final class GroupWriter implements ResultWriter {

    /** A batch of results. */
    private record Batch(long[] left, long[] right, int count) {}

    private final Receiver receiver;
    private final GroupTable<Batch> groups;

    /**
     * @param memory of the groups, which outlives this object
     */
    GroupWriter(
            BulkOutput.Groups output,
            Map<JoinSide, TupleLayout> layouts,
            PagedMemory memory,
            Receiver receiver) {
        this.receiver = receiver;
        Map<JoinSide, TupleLayout> copied = new EnumMap<>(layouts);
        this.groups =
                new GroupTable<>(
                        output.aggregation(),
                        column -> reader(column, copied, memory),
                        MatchSink.BATCH_ROWS,
                        memory);
    }

    private static LongColumn<Batch> reader(
            JoinColumn column, Map<JoinSide, TupleLayout> layouts, PagedMemory memory) {
        JoinSide side = JoinSide.values()[column.side()];
        TupleLayout layout = layouts.get(side);
        int offset = layout.offset(column.column());
        int width = layout.widthBytes(column.column());
        long scratch = memory.allocate(8L * MatchSink.BATCH_ROWS);
        return batch -> {
            long[] tuples = side == JoinSide.LEFT ? batch.left : batch.right;
            gather(tuples, batch.count, offset, width, scratch);
            return scratch;
        };
    }

    private static void gather(long[] tuples, int count, int offset, int width, long target) {
        if (width == Long.BYTES) {
            for (int i = 0; i < count; i++) {
                Memory.putLong(target + 8L * i, Memory.getLong(tuples[i] + offset));
            }
        } else {
            for (int i = 0; i < count; i++) {
                long value = Memory.getInteger(null, tuples[i] + offset, width);
                Memory.putLong(target + 8L * i, value);
            }
        }
    }

    @Override
    public void write(ResultSides sides, long[] left, long[] right, int count)
            throws InterruptedException {
        groups.add(new Batch(left, right, count), count);
        if (groups.isFull()) {
            finish();
        }
    }

    @Override
    public void finish() throws InterruptedException {
        receiver.receive(new BulkResult.Groups(groups.drain()));
    }
}
