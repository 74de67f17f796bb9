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
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import java.util.function.Consumer;

/**
 * Writes result rows to chunks. Kernels read the fixed-width columns of a batch, and write them
 * column by column to one of several pinned buffers. Threads copy whole chunks from one buffer,
 * while kernels fill the next. The host adds the variable-width values, which it holds, on the
 * thread of the join.
 */
final class BulkRowWriter implements BulkResultWriter {

    private static final int BATCH_ROWS = 1 << 17;
    private static final int BATCH_BYTES = 4 << 20;
    private static final int CHUNK_BYTES = 1 << 20;

    /** Buffers from which threads copy, and the one that kernels fill. */
    private static final int BUFFERS = 4;

    /** A column of a batch, at an offset in each buffer. */
    private record Gathered(JoinSide side, BulkRunLayout.Source source, long offset) {}

    /** A chunk that a thread fills from a buffer. */
    private record Filling(int buffer, Future<BulkResult> result) {}

    private final BulkJoinSpec spec;
    private final BulkDevice device;
    private final Map<JoinSide, List<Gathered>> columns = new EnumMap<>(JoinSide.class);
    private final Map<JoinSide, Gathered> references = new EnumMap<>(JoinSide.class);
    private final boolean hasVariableWidth;
    private final int batchRows;
    private final long[] buffers;
    private int nextBuffer;

    /** Oldest first; a buffer is filled again when none of its chunks is left. */
    private final Queue<Filling> fillings = new ArrayDeque<>();

    /** Columns of the batch with variable-width values, and its rows that are in no chunk yet. */
    private ResultSides gatheredSides = ResultSides.BOTH;

    private int nextRow;
    private int rowCount;

    /** Created for the first result with those columns. */
    private final Map<ResultSides, ChunkBuilder> builders = new EnumMap<>(ResultSides.class);

    /** Builders of threads, reused. */
    private final Map<ResultSides, Queue<ChunkBuilder>> spare = new EnumMap<>(ResultSides.class);

    BulkRowWriter(
            BulkJoinSpec spec,
            BulkDevice device,
            BulkMemory memory,
            Map<JoinSide, BulkRunLayout> layouts) {
        this.spec = spec;
        this.device = device;
        for (ResultSides sides : ResultSides.values()) {
            spare.put(sides, new ConcurrentLinkedQueue<>());
        }
        ResultSides most = spec.kind().returnsPairs() ? ResultSides.BOTH : ResultSides.LEFT;
        ChunkBuilder builder = builder(most);
        this.hasVariableWidth = builder.schema().hasVariableWidth();
        int mostRows = (int) Math.min(BATCH_ROWS, BATCH_BYTES / rowBytes(layouts));
        this.batchRows =
                hasVariableWidth ? mostRows : wholeChunks(builder.capacityRows(), mostRows);
        long next = 0;
        for (JoinSide side : JoinSide.values()) {
            BulkRunLayout layout = layouts.get(side);
            List<Gathered> gathered = new ArrayList<>();
            for (int column : fixedColumns(side)) {
                gathered.add(new Gathered(side, layout.source(column), next));
                // kernels write values to multiples of their width
                next += BulkArena.alignedBytes((long) layout.widthBytes(column) * batchRows);
            }
            columns.put(side, gathered);
            if (layout.hasReferences()) {
                references.put(side, new Gathered(side, layout.references(), next));
                next += (long) Long.BYTES * batchRows;
            }
        }
        this.buffers =
                allocate(
                        memory,
                        hasVariableWidth || device.threads().count() == 0 ? 1 : BUFFERS,
                        BulkArena.alignedBytes(next));
    }

    /** Returns the pinned bytes of a row of results, at least 1. */
    private long rowBytes(Map<JoinSide, BulkRunLayout> layouts) {
        long bytes = 0;
        for (JoinSide side : JoinSide.values()) {
            BulkRunLayout layout = layouts.get(side);
            bytes += fixedColumns(side).stream().mapToLong(layout::widthBytes).sum();
            bytes += layout.hasReferences() ? Long.BYTES : 0;
        }
        return Math.max(1, bytes);
    }

    /** Returns the rows of a batch, so that all of its chunks are full. */
    private static int wholeChunks(int chunkRows, int mostRows) {
        return Math.max(1, mostRows / chunkRows) * chunkRows;
    }

    /** Returns the addresses of buffers, or of one if the limits have no room for several. */
    private static long[] allocate(BulkMemory memory, int count, long bytes) {
        long[] addresses = new long[count];
        if (bytes > 0) {
            Optional<Long> first =
                    count == 1
                            ? Optional.of(memory.allocatePinned(bytes))
                            : BulkAllocator.ifRoom(() -> memory.allocatePinned(bytes * count));
            if (first.isEmpty()) {
                return allocate(memory, 1, bytes);
            }
            Arrays.setAll(addresses, i -> first.get() + i * bytes);
        }
        return addresses;
    }

    private ChunkBuilder builder(ResultSides sides) {
        return builders.computeIfAbsent(sides, this::newBuilder);
    }

    private ChunkBuilder newBuilder(ResultSides sides) {
        return new ChunkBuilder(spec.resultSchema(sides), CHUNK_BYTES);
    }

    /** Returns the fixed-width columns of results, in their order. */
    private List<Integer> fixedColumns(JoinSide side) {
        return spec.outputColumns(side).stream()
                .filter(column -> spec.input(side).schema().column(column).isFixed())
                .toList();
    }

    @Override
    public long batchRows() {
        return batchRows;
    }

    @Override
    public boolean needsRows() {
        return true;
    }

    @Override
    public void write(BulkBatch batch, Consumer<BulkResult> results) {
        gather(batch, buffers[nextBuffer]);
        int rows = (int) batch.count();
        if (builder(batch.sides()).schema().hasVariableWidth()) {
            gatheredSides = batch.sides();
            nextRow = 0;
            rowCount = rows;
        } else {
            fill(batch.sides(), rows, results);
        }
    }

    /** Has threads fill chunks, and adds the rows that fill none to those of other batches. */
    private void fill(ResultSides sides, int rows, Consumer<BulkResult> results) {
        long buffer = buffers[nextBuffer];
        ChunkBuilder rest = builder(sides);
        int chunkRows = rest.capacityRows();
        int from = 0;
        for (; rows - from >= chunkRows; from += chunkRows) {
            int first = from;
            Future<BulkResult> result =
                    device.threads().submit(() -> newChunk(sides, buffer, first, chunkRows));
            fillings.add(new Filling(nextBuffer, result));
        }
        while (from < rows) {
            int count = Math.min(rows - from, chunkRows - rest.rowCount());
            writeColumns(rest, sides, buffer, from, count);
            from += count;
            if (rest.isFull()) {
                results.accept(seal(sides, rest));
            }
        }
        nextBuffer = (nextBuffer + 1) % buffers.length;
    }

    /** Called by threads. */
    private BulkResult newChunk(ResultSides sides, long buffer, int from, int rows) {
        ChunkBuilder reused = spare.get(sides).poll();
        ChunkBuilder builder = reused == null ? newBuilder(sides) : reused;
        writeColumns(builder, sides, buffer, from, rows);
        BulkResult result = seal(sides, builder);
        spare.get(sides).add(builder);
        return result;
    }

    @Override
    public boolean writeMore(Consumer<BulkResult> results) throws InterruptedException {
        if (!fillings.isEmpty() && fillings.element().buffer() == nextBuffer) {
            passFilling(results);
            return true;
        }
        if (nextRow == rowCount) {
            return false;
        }
        ChunkBuilder builder = builder(gatheredSides);
        nextRow += writeRows(builder, gatheredSides, buffers[nextBuffer], nextRow, rowCount);
        if (builder.isFull()) {
            results.accept(seal(gatheredSides, builder));
        }
        return true;
    }

    private void passFilling(Consumer<BulkResult> results) throws InterruptedException {
        long startNs = System.nanoTime();
        results.accept(BulkThreads.await(fillings.element().result()));
        fillings.remove();
        device.waited(BulkWait.THREADS, startNs);
    }

    private void gather(BulkBatch batch, long buffer) {
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
                                                buffer + column.offset())));
    }

    /** Writes rows that fit; also called by threads. */
    private void writeColumns(
            ChunkBuilder builder, ResultSides sides, long buffer, int from, int rows) {
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
                            buffer + column.offset() + (long) width * from,
                            builder.array(),
                            start,
                            (long) width * rows);
                }
            }
        }
        builder.advance(rows);
    }

    /** Writes rows until the chunk is full, and returns their number. */
    private int writeRows(ChunkBuilder builder, ResultSides sides, long buffer, int from, int to) {
        int row = from;
        while (row < to && !builder.isFull()) {
            int target = 0;
            for (JoinSide side : JoinSide.values()) {
                if (sides.contains(side)) {
                    target = writeRow(builder, target, side, buffer, row);
                }
            }
            builder.endRow();
            row++;
        }
        return row - from;
    }

    private int writeRow(
            ChunkBuilder builder, int firstColumn, JoinSide side, long buffer, int row) {
        int target = firstColumn;
        for (Gathered column : columns.get(side)) {
            while (builder.columnOffset(target) < 0) {
                target++;
            }
            int width = column.source().widthBytes();
            long value =
                    Memory.getInteger(null, buffer + column.offset() + (long) width * row, width);
            builder.putInteger(target++, value);
        }
        Gathered reference = references.get(side);
        if (reference != null) {
            long at = Memory.getLong(buffer + reference.offset() + (long) Long.BYTES * row);
            long start = at + Integer.BYTES;
            builder.addVariableWidthRow(null, start, start + Memory.getInt(at));
        }
        return firstColumn + spec.outputColumns(side).size();
    }

    private static BulkResult seal(ResultSides sides, ChunkBuilder builder) {
        return new BulkResult.Rows(
                sides, builder.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, 0));
    }

    @Override
    public void finish(Consumer<BulkResult> results) throws InterruptedException {
        while (!fillings.isEmpty()) {
            passFilling(results);
        }
        builders.forEach(
                (sides, builder) -> {
                    if (!builder.isEmpty()) {
                        results.accept(seal(sides, builder));
                    }
                });
    }
}
