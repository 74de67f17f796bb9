package io.github.gpujoin.flink.pack;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkCursor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.KeyHash;
import io.github.gpujoin.core.region.Memory;
import java.util.Arrays;

/**
 * Sorts rows of a chunk by the radix partition of a key: a counting sort, stable, with loops over
 * one array each. Afterwards each partition's columns are copied as runs of rows, which keeps the
 * writes of a run in one place. Not thread-safe.
 */
final class RowPartitioner {

    private final int partitions;
    private final int keyColumn;
    private final ChunkCursor cursor;
    private final int[] ends;
    private int[] partitionOf = new int[0];
    private int[] sorted = new int[0];

    /**
     * @param schema of the chunks
     * @param keyColumn in them, INT32 or INT64
     */
    RowPartitioner(ChunkSchema schema, int keyColumn, int partitions) {
        this.keyColumn = keyColumn;
        this.partitions = partitions;
        this.cursor = new ChunkCursor(schema);
        this.ends = new int[partitions + 1];
    }

    /** Sorts the selected rows. */
    void sort(Chunk chunk, RowSelection selection) {
        int count = selection.size();
        if (partitionOf.length < count) {
            partitionOf = new int[count];
            sorted = new int[count];
        }
        Arrays.fill(ends, 0);
        countPartitions(chunk, selection.rows(), count);
        for (int p = 0; p < partitions; p++) {
            ends[p + 1] += ends[p];
        }
        int[] rows = selection.rows();
        for (int i = 0; i < count; i++) {
            // ends[p] starts as the start of p and is its end when all rows are placed.
            sorted[ends[partitionOf[i]]++] = rows[i];
        }
    }

    /** The selected rows, those of partition 0 first. */
    int[] rows() {
        return sorted;
    }

    int start(int partition) {
        return partition == 0 ? 0 : ends[partition - 1];
    }

    int end(int partition) {
        return ends[partition];
    }

    /** Notes the partition of each row, and in {@code ends[p + 1]} how many rows are of p. */
    private void countPartitions(Chunk chunk, int[] rows, int count) {
        int offset = chunk.columnOffset(keyColumn);
        if (offset < 0) {
            for (int i = 0; i < count; i++) {
                note(i, cursor.at(chunk, rows[i]).getLong(keyColumn));
            }
            return;
        }
        byte[] bytes = chunk.bytes();
        long start = Memory.BYTES + offset;
        if (chunk.schema().column(keyColumn).type() == ColumnType.INT64) {
            for (int i = 0; i < count; i++) {
                note(i, Memory.getLong(bytes, start + 8L * rows[i]));
            }
        } else {
            for (int i = 0; i < count; i++) {
                note(i, Memory.getInt(bytes, start + 4L * rows[i]));
            }
        }
    }

    private void note(int i, long key) {
        int partition = KeyHash.partition(KeyHash.hash(key), partitions);
        partitionOf[i] = partition;
        ends[partition + 1]++;
    }
}
