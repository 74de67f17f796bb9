// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.pack;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkCursor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.RowView;
import io.github.gpujoin.core.region.Memory;
import org.jspecify.annotations.Nullable;

/** Sorts the rows of chunks by the group of a key column. Not thread-safe. */
final class ChunkKeys {

    private final int column;
    private final int widthBytes;
    private final ChunkCursor cursor;

    /** Keys of 1 or 2 bytes of a chunk, widened to 4. */
    private byte[] widened = new byte[0];

    /**
     * @param schema of the chunks
     * @param column in them, of integers
     */
    ChunkKeys(ChunkSchema schema, int column) {
        this.column = column;
        this.widthBytes = schema.column(column).type().widthBytes();
        this.cursor = new ChunkCursor(schema);
    }

    /** Sorts all rows of a chunk whose key column is fixed. */
    void sort(Chunk chunk, RowPartitioner partitioner) {
        int rowCount = chunk.rowCount();
        partitioner.begin(rowCount);
        int[] groupOf = partitioner.groupOf();
        int[] counts = partitioner.counts();
        int partitions = partitioner.groups().partitions();
        int[] table = partitioner.groups().table();
        boolean isWide = widthBytes == Long.BYTES;
        boolean isNarrow = widthBytes < Integer.BYTES;
        byte[] array = isNarrow ? widened(chunk) : chunk.array();
        long start = isNarrow ? Memory.BYTES : chunk.columnStart(column);
        for (int row = 0; row < rowCount; row++) {
            long key = fixedKey(array, start, isWide, row);
            int partition = RowPartitioner.of(key, partitions);
            int group = table == null ? partition : table[partition];
            groupOf[row] = group;
            counts[group + 1]++;
        }
        partitioner.sort(rowCount);
    }

    /** Sorts the selected rows. The row number, at the width of the column, replaces a null key. */
    void sort(Chunk chunk, RowSelection selection, RowPartitioner partitioner) {
        int count = selection.size();
        int[] rows = selection.rows();
        partitioner.begin(count);
        int[] groupOf = partitioner.groupOf();
        int[] counts = partitioner.counts();
        int partitions = partitioner.groups().partitions();
        int[] table = partitioner.groups().table();
        boolean isFixed = chunk.schema().column(column).isFixed();
        boolean isWide = widthBytes == Long.BYTES;
        boolean isNarrow = isFixed && widthBytes < Integer.BYTES;
        byte[] array = isNarrow ? widened(chunk) : chunk.array();
        long start = isNarrow ? Memory.BYTES : isFixed ? chunk.columnStart(column) : 0;
        int unusedBits = Long.SIZE - Byte.SIZE * widthBytes;
        for (int i = 0; i < count; i++) {
            int row = rows[i];
            long key;
            if (!isFixed) {
                RowView at = cursor.at(chunk, row);
                // The receiver derives the partition from the stored, narrowed key.
                key =
                        at.isNull(column)
                                ? (long) row << unusedBits >> unusedBits
                                : at.getLong(column);
            } else {
                key = fixedKey(array, start, isWide, row);
            }
            int partition = RowPartitioner.of(key, partitions);
            int group = table == null ? partition : table[partition];
            groupOf[i] = group;
            counts[group + 1]++;
        }
        partitioner.sort(rows, count);
    }

    private byte[] widened(Chunk chunk) {
        int rowCount = chunk.rowCount();
        if (widened.length < Integer.BYTES * rowCount) {
            widened = new byte[Integer.BYTES * rowCount];
        }
        byte @Nullable [] array = chunk.array();
        long start = chunk.columnStart(column);
        for (int row = 0; row < rowCount; row++) {
            long key = Memory.getInteger(array, start + (long) widthBytes * row, widthBytes);
            Memory.putInt(widened, Memory.BYTES + 4L * row, (int) key);
        }
        return widened;
    }

    /** The null check tells the compiler which of both memories it reads. */
    private static long fixedKey(byte @Nullable [] array, long start, boolean isWide, int row) {
        if (array == null) {
            return isWide ? Memory.getLong(start + 8L * row) : Memory.getInt(start + 4L * row);
        }
        return isWide
                ? Memory.getLong(array, start + 8L * row)
                : Memory.getInt(array, start + 4L * row);
    }
}
