// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.pack;

import io.github.gpujoin.core.filter.RowPruner;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.flink.record.RecordEncoder;
import io.github.gpujoin.flink.record.RecordLayout;
import io.github.gpujoin.flink.record.UnreadableRecordException;
import java.io.IOException;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.apache.flink.metrics.Counter;
import org.jspecify.annotations.Nullable;

/**
 * Records that wait to be written together. Only where a record may be kept after the operator has
 * returned, which Flink grants unless objects are reused. Not thread-safe.
 */
final class RecordBatch<T> {

    /** Rows of a batch: few enough that the records are still in a core's cache. */
    private static final int MAX_ROWS = 512;

    /** Rows of a batch with texts, keys or other objects, which are larger. */
    private static final int MAX_OBJECT_ROWS = 128;

    /** As many rows for each group pay for the steps that are taken group by group. */
    private static final int ROWS_PER_GROUP = 32;

    private static final int MAX_PARTITIONED_ROWS = 4096;

    private final RecordColumns<T> columns;
    private final PackSpec packing;
    private final ChunkSink sink;
    private final Counter nullKeyRows;
    private final Counter rowsPruned;
    private final @Nullable RowPartitioner partitioner;
    private final int capacityRows;
    private final int[] inOrder;
    private final boolean keepsTimestamps;
    private T[] records;
    private final long[] timestamps;
    private final long[] keys;
    private int count;
    private long arrivedAtMs;

    private RecordBatch(
            RecordColumns<T> columns,
            ChunkSchema schema,
            PackSpec packing,
            PartitionGroups groups,
            ChunkSink sink,
            Counter nullKeyRows,
            Counter rowsPruned) {
        this.columns = columns;
        this.packing = packing;
        this.sink = sink;
        this.nullKeyRows = nullKeyRows;
        this.rowsPruned = rowsPruned;
        this.partitioner = packing.isPartitioned() ? new RowPartitioner(groups) : null;
        this.capacityRows = capacityRows(schema, packing, groups.count());
        this.inOrder = IntStream.range(0, capacityRows).toArray();
        this.keepsTimestamps = schema.indexOf(RecordLayout.TIMESTAMP) >= 0;
        this.records = newArray();
        this.timestamps = new long[keepsTimestamps ? capacityRows : 0];
        this.keys = new long[capacityRows];
    }

    /**
     * Returns a batch, or null if records of the layout must be written one by one.
     *
     * @param keepsOnlyGood whether a record that cannot be written must be left out
     */
    static <T> @Nullable RecordBatch<T> of(
            RecordLayout<T> layout,
            boolean keepsOnlyGood,
            PackSpec packing,
            PartitionGroups groups,
            ChunkSink sink,
            Counter nullKeyRows,
            Counter rowsPruned) {
        return RecordColumns.of(layout, capacityRows(layout.schema(), packing, groups.count()))
                .filter(columns -> columns.isPrimitive() || !keepsOnlyGood)
                .map(
                        columns ->
                                new RecordBatch<>(
                                        columns,
                                        layout.schema(),
                                        packing,
                                        groups,
                                        sink,
                                        nullKeyRows,
                                        rowsPruned))
                .orElse(null);
    }

    @SuppressWarnings("unchecked")
    private T[] newArray() {
        return (T[]) new Object[capacityRows];
    }

    /** Chunks of few rows are not kept back longer than they take to fill. */
    private static int capacityRows(ChunkSchema schema, PackSpec packing, int groups) {
        int rows = schema.hasVariableWidth() ? MAX_OBJECT_ROWS : MAX_ROWS;
        int wanted = Math.max(rows, ROWS_PER_GROUP * groups);
        int most = Math.max(1, packing.chunkBytes() / Math.max(1, schema.fixedRowBytes()));
        return Math.min(most, Math.min(wanted, MAX_PARTITIONED_ROWS));
    }

    /**
     * Keeps a record.
     *
     * @return whether the batch is now full and must be drained
     */
    boolean add(T record, long timestamp) {
        int row = count;
        if (row == 0) {
            arrivedAtMs = sink.rowsCome();
        }
        records[row] = record;
        if (keepsTimestamps) {
            timestamps[row] = timestamp;
        }
        count = row + 1;
        return row + 1 == capacityRows;
    }

    int size() {
        return count;
    }

    /**
     * To be called before each {@link #drain}. A batch that fails is forgotten.
     *
     * @throws UnreadableRecordException if a record is not of the layout's class
     */
    void check(RecordEncoder<T> encoder) {
        int rows = count;
        count = 0;
        try {
            encoder.checkClasses(records, rows);
        } catch (IllegalArgumentException e) {
            throw PackOperator.unpackable(packing, e);
        }
        count = rows;
    }

    /**
     * Writes the records and emits what is full. Does nothing while another call writes.
     *
     * @param pruner of facts, or null
     */
    void drain(@Nullable RowPruner pruner) {
        int rows = count;
        if (rows == 0) {
            return;
        }
        // Taken out first: while a chunk is emitted, a timer may run and drain again. A new array
        // is young, so that storing references in it costs no barrier.
        T[] batch = records;
        records = newArray();
        count = 0;
        int[] order = inOrder;
        int kept = rows;
        if (columns.hasComputedKeys()) {
            order = new int[rows];
            kept = computeKeys(batch, rows, order);
            nullKeyRows.inc(rows - kept);
        }
        if (pruner != null) {
            order = Arrays.copyOf(order, rows);
            int left =
                    pruner.select(
                            (column, condition, selected, count) ->
                                    condition.select(
                                            keys(batch, rows, column), selected, 0, count, 0),
                            order,
                            kept);
            rowsPruned.inc(kept - left);
            kept = left;
        }
        if (partitioner == null) {
            append(0, batch, order, 0, kept);
            return;
        }
        partitioner.sort(order, kept, keys(batch, rows, packing.partitionColumn()));
        for (int g = 0; g < partitioner.groups().count(); g++) {
            append(g, batch, partitioner.rows(), partitioner.start(g), partitioner.end(g));
        }
    }

    private int computeKeys(T[] batch, int rows, int[] order) {
        try {
            return columns.computeKeys(batch, rows, order);
        } catch (Exception e) {
            throw PackOperator.unpackable(packing, e);
        }
    }

    private long[] keys(T[] batch, int rows, int column) {
        return columns.readKeys(batch, rows, column, keys);
    }

    private void append(int group, T[] batch, int[] order, int from, int end) {
        int next = from;
        while (next < end) {
            ChunkBuilder builder = sink.builder(group);
            int room = builder.capacityRows() - builder.rowCount();
            int last = Math.min(end, next + room);
            try {
                last = columns.append(batch, timestamps, order, next, last, builder);
            } catch (IOException | RuntimeException e) {
                throw PackOperator.unpackable(packing, e);
            }
            sink.added(group, last - next, arrivedAtMs);
            next = last;
        }
    }
}
