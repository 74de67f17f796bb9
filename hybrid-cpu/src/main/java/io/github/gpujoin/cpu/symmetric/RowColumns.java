// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.symmetric;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.KeyHash;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.symmetric.ChangeKind;
import io.github.gpujoin.core.symmetric.SymmetricInput;

/** Reads what a symmetric join needs of the rows of one input. */
final class RowColumns {

    private final SymmetricInput input;
    private final int keyBytes;

    /** Variable-width columns before a column, by column; -1 for fixed-width columns. */
    private final int[] variableWidthIndex;

    private final int[] identity;

    RowColumns(SymmetricInput input) {
        this.input = input;
        ChunkSchema schema = input.schema();
        this.keyBytes = schema.column(input.keyColumn()).type().widthBytes();
        this.identity = input.identityColumns().stream().mapToInt(Integer::intValue).toArray();
        this.variableWidthIndex = new int[schema.size()];
        int next = 0;
        for (int i = 0; i < schema.size(); i++) {
            variableWidthIndex[i] = schema.column(i).isFixed() ? -1 : next++;
        }
    }

    // ------------------------------------------------------------------ keys

    boolean hasNullKey(Chunk chunk, int row) {
        return input.nullKeyColumn() != SymmetricInput.NONE
                && integer(chunk, input.nullKeyColumn(), Integer.BYTES, row) != 0;
    }

    long key(Chunk chunk, int row) {
        return integer(chunk, input.keyColumn(), keyBytes, row);
    }

    /** Reads the keys of consecutive rows. */
    void readKeys(Chunk chunk, int firstRow, int count, long[] keys) {
        byte[] base = chunk.array();
        long start = chunk.columnStart(input.keyColumn()) + (long) keyBytes * firstRow;
        if (keyBytes == Long.BYTES) {
            for (int i = 0; i < count; i++) {
                keys[i] = Memory.getLong(base, start + 8L * i);
            }
        } else {
            for (int i = 0; i < count; i++) {
                keys[i] = Memory.getInteger(base, start + (long) keyBytes * i, keyBytes);
            }
        }
    }

    ChangeKind kind(Chunk chunk, int row) {
        return input.isChangelog()
                ? ChangeKind.of((int) integer(chunk, input.changeColumn(), Integer.BYTES, row))
                : ChangeKind.INSERT;
    }

    private static long integer(Chunk chunk, int column, int widthBytes, int row) {
        long at = chunk.columnStart(column) + (long) widthBytes * row;
        return Memory.getInteger(chunk.array(), at, widthBytes);
    }

    /** Whether two rows with the same integer as key have the same key. */
    boolean isSameKey(Chunk chunk, int row, RowColumns other, Chunk otherChunk, int otherRow) {
        return !input.isHashed()
                || isSameValue(
                        chunk,
                        variableWidth(chunk, input.keyBytesColumn(), row),
                        otherChunk,
                        other.variableWidth(otherChunk, other.input.keyBytesColumn(), otherRow));
    }

    // ------------------------------------------------------------------ identity

    /** Returns a hash of the key and the identity columns. */
    int identityHash(int keyHash, Chunk chunk, int row) {
        long hash = keyHash;
        byte[] base = chunk.array();
        for (int column : identity) {
            if (variableWidthIndex[column] < 0) {
                int width = input.schema().column(column).type().widthBytes();
                hash = KeyHash.hash(hash ^ integer(chunk, column, width, row));
            } else {
                long at = variableWidth(chunk, column, row);
                long end = at + Integer.BYTES + Math.max(0, Memory.getInt(base, at));
                for (; at + Long.BYTES <= end; at += Long.BYTES) {
                    hash = KeyHash.hash(hash ^ Memory.getLong(base, at));
                }
                for (; at < end; at++) {
                    hash = hash * 31 + Memory.getByte(base, at);
                }
            }
        }
        return KeyIndex.hashOf(hash);
    }

    /** Whether two rows with the same integer as key are the same row of the input. */
    boolean isSameRow(Chunk chunk, int row, Chunk otherChunk, int otherRow) {
        for (int column : identity) {
            boolean isSame;
            if (variableWidthIndex[column] < 0) {
                int width = input.schema().column(column).type().widthBytes();
                isSame =
                        integer(chunk, column, width, row)
                                == integer(otherChunk, column, width, otherRow);
            } else {
                isSame =
                        isSameValue(
                                chunk,
                                variableWidth(chunk, column, row),
                                otherChunk,
                                variableWidth(otherChunk, column, otherRow));
            }
            if (!isSame) {
                return false;
            }
        }
        return isSameKey(chunk, row, this, otherChunk, otherRow);
    }

    private long variableWidth(Chunk chunk, int column, int row) {
        long at = chunk.variableWidthStart(row);
        for (int i = variableWidthIndex[column]; i > 0; i--) {
            at += Integer.BYTES + Math.max(0, Memory.getInt(chunk.array(), at));
        }
        return at;
    }

    private static boolean isSameValue(Chunk chunk, long at, Chunk otherChunk, long otherAt) {
        int length = Memory.getInt(chunk.array(), at);
        return length == Memory.getInt(otherChunk.array(), otherAt)
                && Memory.equal(
                        chunk.array(),
                        at + Integer.BYTES,
                        otherChunk.array(),
                        otherAt + Integer.BYTES,
                        Math.max(0, length));
    }
}
