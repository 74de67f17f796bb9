// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.encoding;

import static io.github.gpujoin.core.encoding.EncodedColumnDescriptor.TILE_ROWS;

import io.github.gpujoin.core.region.Memory;
import org.jspecify.annotations.Nullable;

/**
 * Reads an integer column of one encoded chunk after another as 64-bit values. It decodes only the
 * rows that are asked for. If a value needs those before it, it decodes whole tiles, and keeps the
 * last one. Not thread-safe.
 */
public final class EncodedColumnReader {

    private static final int NONE = -1;

    private final int column;

    /** The column of {@link #tile}. */
    private @Nullable EncodedColumn decoded;

    private int tile = NONE;

    /** Both are allocated for the first encoded chunk. */
    private long @Nullable [] values;

    private @Nullable TileScratch scratch;

    public EncodedColumnReader(int column) {
        this.column = column;
    }

    /**
     * Copies the values of consecutive rows.
     *
     * @param target address of room for {@code int64[count]}
     * @throws io.github.gpujoin.core.layout.ChunkFormatException if codes or runs are wrong
     */
    public void copy(EncodedChunk chunk, int firstRow, int count, long target) {
        EncodedColumn source = chunk.column(column);
        int end = firstRow + count;
        for (int row = firstRow; row < end; ) {
            int inTile = row % TILE_ROWS;
            int rows = Math.min(TILE_ROWS - inTile, end - row);
            long from = Memory.LONGS;
            if (source.isRandomAccess()) {
                open();
                decoded = null;
                source.copy(row, rows, values, scratch);
            } else {
                tile(source, row / TILE_ROWS);
                from += 8L * inTile;
            }
            Memory.copy(values, from, null, target + 8L * (row - firstRow), 8L * rows);
            row += rows;
        }
    }

    /**
     * Copies the values of some rows.
     *
     * @param rows address of {@code int32[count]}
     * @param target address of room for {@code int64[count]}
     * @throws io.github.gpujoin.core.layout.ChunkFormatException if codes or runs are wrong
     */
    public void gather(EncodedChunk chunk, long rows, int count, long target) {
        EncodedColumn source = chunk.column(column);
        if (source.isRandomAccess()) {
            source.gather(rows, count, target);
            return;
        }
        for (int i = 0; i < count; i++) {
            int row = Memory.getInt(rows + 4L * i);
            Memory.putLong(target + 8L * i, tile(source, row / TILE_ROWS)[row % TILE_ROWS]);
        }
    }

    private void open() {
        if (values == null) {
            values = new long[TILE_ROWS];
            scratch = new TileScratch();
        }
    }

    /**
     * Returns the sum of all values, modulo 2^64. Packed values are added up as codes.
     *
     * @throws io.github.gpujoin.core.layout.ChunkFormatException if codes or runs are wrong
     */
    public long sum(EncodedChunk chunk) {
        EncodedColumn source = chunk.column(column);
        if (source.isBitPacked()) {
            return source.sumOfCodes();
        }
        long sum = 0;
        int tiles = EncodedColumnDescriptor.tileCount(chunk.rowCount());
        for (int number = 0; number < tiles; number++) {
            long[] tileValues = tile(source, number);
            int rows = source.rowsOf(number);
            for (int i = 0; i < rows; i++) {
                sum += tileValues[i];
            }
        }
        return sum;
    }

    private long[] tile(EncodedColumn source, int number) {
        if (source != decoded || number != tile) {
            open();
            decoded = null;
            source.decodeTile(number, values, scratch);
            decoded = source;
            tile = number;
        }
        return values;
    }
}
