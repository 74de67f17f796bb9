// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.pack;

import io.github.gpujoin.core.encoding.EncodedChunk;
import io.github.gpujoin.core.encoding.EncodedColumnReader;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkCursor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.RowView;
import io.github.gpujoin.core.region.Memory;
import org.jspecify.annotations.Nullable;

/** Reads an integer column of chunks as 64-bit values. Not thread-safe. */
final class ChunkKeyReader {

    private final int column;
    private final boolean isFixed;
    private final int widthBytes;
    private final ChunkCursor cursor;
    private final EncodedColumnReader encoded;
    private long[] keys = new long[0];

    /**
     * @param schema of the chunks
     * @param column in them, of integers
     */
    ChunkKeyReader(ChunkSchema schema, int column) {
        this.column = column;
        this.isFixed = schema.column(column).isFixed();
        this.widthBytes = schema.column(column).type().widthBytes();
        this.cursor = new ChunkCursor(schema);
        this.encoded = new EncodedColumnReader(column);
    }

    /** Returns the value of each row, 0 for a null, until the next call. */
    long[] read(Chunk chunk) {
        int rowCount = chunk.rowCount();
        if (keys.length < rowCount) {
            keys = new long[rowCount];
        }
        if (!isFixed) {
            readNullable(chunk, rowCount);
        } else if (chunk instanceof EncodedChunk source) {
            byte[] values = encoded.load(source, 0, rowCount);
            readLongs(values, Memory.BYTES, rowCount);
        } else if (widthBytes == Long.BYTES) {
            readLongs(chunk.array(), chunk.columnStart(column), rowCount);
        } else {
            readNarrow(chunk.array(), chunk.columnStart(column), rowCount);
        }
        return keys;
    }

    private void readNullable(Chunk chunk, int rowCount) {
        for (int row = 0; row < rowCount; row++) {
            RowView at = cursor.at(chunk, row);
            keys[row] = at.isNull(column) ? 0 : at.getLong(column);
        }
    }

    /** The null checks tell the compiler which of both memories it reads. */
    private void readLongs(byte @Nullable [] array, long start, int rowCount) {
        long[] into = keys;
        if (array == null) {
            for (int row = 0; row < rowCount; row++) {
                into[row] = Memory.getLong(start + 8L * row);
            }
            return;
        }
        for (int row = 0; row < rowCount; row++) {
            into[row] = Memory.getLong(array, start + 8L * row);
        }
    }

    private void readNarrow(byte @Nullable [] array, long start, int rowCount) {
        long[] into = keys;
        if (widthBytes != Integer.BYTES) {
            for (int row = 0; row < rowCount; row++) {
                long at = start + (long) widthBytes * row;
                into[row] = Memory.getInteger(array, at, widthBytes);
            }
        } else if (array == null) {
            for (int row = 0; row < rowCount; row++) {
                into[row] = Memory.getInt(start + 4L * row);
            }
        } else {
            for (int row = 0; row < rowCount; row++) {
                into[row] = Memory.getInt(array, start + 4L * row);
            }
        }
    }
}
