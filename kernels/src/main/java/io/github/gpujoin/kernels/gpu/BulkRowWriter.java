// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.bulk.BulkResult;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.bulk.ResultSides;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.region.Memory;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * Writes result rows to chunks. Kernels read the fixed-width columns of a batch, and write them
 * column by column to pinned memory; the host copies them to chunks, and adds the variable-width
 * values, which it holds.
 */
final class BulkRowWriter implements BulkResultWriter {

    private static final int BATCH_ROWS = 1 << 17;
    private static final int CHUNK_BYTES = 1 << 20;

    /** A column of a batch in pinned memory. */
    private record Gathered(JoinSide side, BulkRunLayout.Source source, long address) {}

    private final BulkJoinSpec spec;
    private final BulkDevice device;
    private final Map<JoinSide, List<Gathered>> columns = new EnumMap<>(JoinSide.class);
    private final Map<JoinSide, Gathered> references = new EnumMap<>(JoinSide.class);

    /** Columns of the batch in pinned memory, and which of its rows are not in a chunk yet. */
    private ResultSides gatheredSides = ResultSides.BOTH;

    private int nextRow;
    private int rowCount;

    /** Created for the first result with those columns. */
    private final Map<ResultSides, ChunkBuilder> builders = new EnumMap<>(ResultSides.class);

    BulkRowWriter(
            BulkJoinSpec spec,
            BulkDevice device,
            BulkMemory memory,
            Map<JoinSide, BulkRunLayout> layouts) {
        this.spec = spec;
        this.device = device;
        long rowBytes = 0;
        for (JoinSide side : JoinSide.values()) {
            BulkRunLayout layout = layouts.get(side);
            rowBytes += fixedColumns(side).stream().mapToLong(layout::widthBytes).sum();
            rowBytes += layout.hasReferences() ? Long.BYTES : 0;
        }
        long next = rowBytes == 0 ? 0 : memory.allocatePinned(rowBytes * BATCH_ROWS);
        for (JoinSide side : JoinSide.values()) {
            BulkRunLayout layout = layouts.get(side);
            List<Gathered> gathered = new ArrayList<>();
            for (int column : fixedColumns(side)) {
                gathered.add(new Gathered(side, layout.source(column), next));
                next += (long) layout.widthBytes(column) * BATCH_ROWS;
            }
            columns.put(side, gathered);
            if (layout.hasReferences()) {
                references.put(side, new Gathered(side, layout.references(), next));
                next += (long) Long.BYTES * BATCH_ROWS;
            }
        }
    }

    /** Returns the fixed-width columns of results, in their order. */
    private List<Integer> fixedColumns(JoinSide side) {
        return spec.outputColumns(side).stream()
                .filter(column -> spec.input(side).schema().column(column).isFixed())
                .toList();
    }

    @Override
    public long batchRows() {
        return BATCH_ROWS;
    }

    @Override
    public boolean needsRows() {
        return true;
    }

    @Override
    public void write(BulkBatch batch, Consumer<BulkResult> results) {
        gather(batch);
        gatheredSides = batch.sides();
        nextRow = 0;
        rowCount = (int) batch.count();
    }

    @Override
    public boolean writeMore(Consumer<BulkResult> results) {
        if (nextRow == rowCount) {
            return false;
        }
        ResultSides sides = gatheredSides;
        ChunkBuilder builder =
                builders.computeIfAbsent(
                        sides, s -> new ChunkBuilder(spec.resultSchema(s), CHUNK_BYTES));
        while (nextRow < rowCount && !builder.isFull()) {
            nextRow +=
                    builder.schema().hasVariableWidth()
                            ? writeRows(builder, sides, nextRow, rowCount)
                            : writeColumns(builder, sides, nextRow, rowCount);
        }
        if (builder.isFull()) {
            seal(sides, builder, results);
        }
        return true;
    }

    private void gather(BulkBatch batch) {
        List<Gathered> wanted = new ArrayList<>();
        for (JoinSide side : JoinSide.values()) {
            if (batch.sides().contains(side)) {
                wanted.addAll(columns.get(side));
                if (references.containsKey(side)) {
                    wanted.add(references.get(side));
                }
            }
        }
        if (wanted.isEmpty()) {
            return;
        }
        device.run(
                () ->
                        wanted.forEach(
                                column ->
                                        BulkColumns.gather(
                                                device.driver(),
                                                column.source(),
                                                batch.rows(column.side()),
                                                batch.count(),
                                                column.address())));
    }

    /** Writes as many rows as fit, and returns their number. */
    private int writeColumns(ChunkBuilder builder, ResultSides sides, int from, int to) {
        int rows = Math.min(to - from, builder.capacityRows() - builder.rowCount());
        int target = 0;
        for (JoinSide side : JoinSide.values()) {
            if (sides.contains(side)) {
                for (Gathered column : columns.get(side)) {
                    int width = column.source().widthBytes();
                    long start =
                            Memory.BYTES
                                    + builder.columnOffset(target++)
                                    + (long) width * builder.rowCount();
                    Memory.copy(
                            null,
                            column.address() + (long) width * from,
                            builder.array(),
                            start,
                            (long) width * rows);
                }
            }
        }
        builder.advance(rows);
        return rows;
    }

    /** Writes rows until the chunk is full, and returns their number. */
    private int writeRows(ChunkBuilder builder, ResultSides sides, int from, int to) {
        int row = from;
        while (row < to && !builder.isFull()) {
            int target = 0;
            for (JoinSide side : JoinSide.values()) {
                if (sides.contains(side)) {
                    target = writeRow(builder, target, side, row);
                }
            }
            builder.endRow();
            row++;
        }
        return row - from;
    }

    private int writeRow(ChunkBuilder builder, int firstColumn, JoinSide side, int row) {
        int target = firstColumn;
        for (Gathered column : columns.get(side)) {
            while (builder.columnOffset(target) < 0) {
                target++;
            }
            int width = column.source().widthBytes();
            long value = Memory.getInteger(null, column.address() + (long) width * row, width);
            builder.putInteger(target++, value);
        }
        Gathered reference = references.get(side);
        if (reference != null) {
            long at = Memory.getLong(reference.address() + (long) Long.BYTES * row);
            long start = at + Integer.BYTES;
            builder.addVariableWidthRow(null, start, start + Memory.getInt(at));
        }
        return firstColumn + spec.outputColumns(side).size();
    }

    private void seal(ResultSides sides, ChunkBuilder builder, Consumer<BulkResult> results) {
        results.accept(
                new BulkResult.Rows(
                        sides,
                        builder.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, 0)));
    }

    @Override
    public void finish(Consumer<BulkResult> results) {
        builders.forEach(
                (sides, builder) -> {
                    if (!builder.isEmpty()) {
                        seal(sides, builder, results);
                    }
                });
    }
}
