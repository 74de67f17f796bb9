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

    private final int column;

    /** These are allocated for the first encoded chunk. */
    private @Nullable TileScratch scratch;

    private byte[] values = new byte[0];
    private byte[] tileValues = new byte[0];

    /** Column and number of the tile that is decoded. */
    private @Nullable EncodedColumn tileColumn;

    private int tileNumber;

    public EncodedColumnReader(int column) {
        this.column = column;
    }

    /**
     * Decodes the values of consecutive rows.
     *
     * @return array that starts with {@code int64[count]}, valid until the next call
     * @throws io.github.gpujoin.core.layout.ChunkFormatException if codes or runs are wrong
     */
    public byte[] load(EncodedChunk chunk, int firstRow, int count) {
        EncodedColumn source = chunk.column(column);
        open(count);
        for (int done = 0; done < count; ) {
            int row = firstRow + done;
            int inTile = row % TILE_ROWS;
            int rows = Math.min(TILE_ROWS - inTile, count - done);
            long to = Memory.BYTES + 8L * done;
            if (source.isRandomAccess()) {
                source.copy(row, rows, values, to, scratch);
            } else {
                long from = Memory.BYTES + 8L * inTile;
                Memory.copy(tile(source, row / TILE_ROWS), from, values, to, 8L * rows);
            }
            done += rows;
        }
        return values;
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
        open(0);
        for (int i = 0; i < count; i++) {
            int row = Memory.getInt(rows + 4L * i);
            byte[] tile = tile(source, row / TILE_ROWS);
            long at = Memory.BYTES + 8L * (row % TILE_ROWS);
            Memory.putLong(target + 8L * i, Memory.getLong(tile, at));
        }
    }

    private void open(int count) {
        if (scratch == null) {
            scratch = new TileScratch();
        }
        if (values.length < 8L * count) {
            values = new byte[Long.BYTES * Math.max(count, TILE_ROWS)];
        }
    }

    private byte[] tile(EncodedColumn source, int number) {
        if (source != tileColumn || number != tileNumber) {
            if (tileValues.length == 0) {
                tileValues = new byte[Long.BYTES * TILE_ROWS];
            }
            tileColumn = null;
            source.decodeTile(number, tileValues, Memory.BYTES, scratch);
            tileColumn = source;
            tileNumber = number;
        }
        return tileValues;
    }
}
