// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.pack;

import io.github.gpujoin.core.filter.RowPruner;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.flink.record.RecordEncoder;
import io.github.gpujoin.flink.record.RecordLayout;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Records that wait to be written together. Only where a record may be kept after the operator has
 * returned, which Flink grants unless objects are reused. Not thread-safe.
 */
final class RecordBatch {

    /** Rows of a batch: few enough that the records are still in a core's cache. */
    private static final int MAX_ROWS = 512;

    /** As many rows for each group pay for the steps that are taken group by group. */
    private static final int ROWS_PER_GROUP = 32;

    private static final int MAX_PARTITIONED_ROWS = 4096;

    private final RecordColumns columns;
    private final PackSpec packing;
    private final ChunkSink sink;
    private final @Nullable RowPartitioner partitioner;
    private final int capacityRows;
    private final int[] inOrder;
    private final boolean keepsTimestamps;
    private Object[] records;
    private long[] timestamps;
    private long[] keys = new long[0];
    private int count;
    private long arrivedAtMs;

    RecordBatch(
            RecordColumns columns,
            ChunkSchema schema,
            PackSpec packing,
            PartitionGroups groups,
            ChunkSink sink) {
        this.columns = columns;
        this.packing = packing;
        this.sink = sink;
        this.partitioner = packing.isPartitioned() ? new RowPartitioner(groups) : null;
        this.capacityRows = capacityRows(schema, packing, groups.count());
        this.inOrder = IntStream.range(0, capacityRows).toArray();
        this.keepsTimestamps = schema.indexOf(RecordLayout.TIMESTAMP) >= 0;
        this.records = new Object[capacityRows];
        this.timestamps = new long[keepsTimestamps ? capacityRows : 0];
    }

    /** Chunks of few rows are not kept back longer than they take to fill. */
    private static int capacityRows(ChunkSchema schema, PackSpec packing, int groups) {
        int wanted = Math.max(MAX_ROWS, ROWS_PER_GROUP * groups);
        int most = Math.max(1, packing.chunkBytes() / Math.max(1, schema.fixedRowBytes()));
        return Math.min(most, Math.min(wanted, MAX_PARTITIONED_ROWS));
    }

    /**
     * Keeps a record.
     *
     * @return whether the batch is now full and must be drained
     */
    boolean add(Object record, long timestamp) {
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
     * @throws IllegalArgumentException where a record is not of the layout's class
     */
    void check(RecordEncoder<?> encoder) {
        int rows = count;
        count = 0;
        encoder.checkClasses(records, rows);
        count = rows;
    }

    /**
     * Writes the records and emits what is full. Does nothing where it is already at that.
     *
     * @param pruner of facts, or null
     * @return number of records that the pruner dropped
     */
    int drain(@Nullable RowPruner pruner) {
        int rows = count;
        if (rows == 0) {
            return 0;
        }
        // Taken out first: while a chunk is emitted, a timer may run and drain again. A new array
        // is
        // young, so that storing references in it costs no barrier.
        Object[] batch = records;
        records = new Object[capacityRows];
        count = 0;
        int[] order = inOrder;
        int kept = rows;
        if (pruner != null) {
            order = Arrays.copyOf(inOrder, rows);
            kept =
                    pruner.select(
                            (column, condition, selected, count) ->
                                    condition.select(
                                            keys(batch, rows, column), selected, 0, count, 0),
                            order,
                            rows);
        }
        if (partitioner == null) {
            append(0, batch, order, 0, kept);
            return rows - kept;
        }
        columns.sort(batch, order, kept, packing.partitionColumn(), partitioner);
        for (int g = 0; g < partitioner.groups().count(); g++) {
            append(g, batch, partitioner.rows(), partitioner.start(g), partitioner.end(g));
        }
        return rows - kept;
    }

    private long[] keys(Object[] batch, int rows, int column) {
        if (keys.length < rows) {
            keys = new long[capacityRows];
        }
        columns.readKeys(batch, rows, column, keys);
        return keys;
    }

    private void append(int group, Object[] batch, int[] order, int from, int end) {
        int next = from;
        while (next < end) {
            ChunkBuilder builder = sink.builder(group);
            int room = builder.capacityRows() - builder.rowCount();
            int last = Math.min(end, next + room);
            columns.append(batch, timestamps, order, next, last, builder);
            sink.added(group, last - next, arrivedAtMs);
            next = last;
        }
    }
}
