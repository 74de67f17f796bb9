// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.encoding;

import static io.github.gpujoin.core.encoding.EncodedColumnDescriptor.TILE_ROWS;

import io.github.gpujoin.core.layout.ChunkFormatException;
import io.github.gpujoin.core.region.Memory;

/**
 * An encoded column of a chunk. The constructor checks everything that locates bytes, so that
 * decoding reads nothing outside the body. Immutable; {@link #decodeTile} is thread-safe for
 * distinct targets.
 */
public final class EncodedColumn {

    private final byte[] bytes;
    private final EncodingPlan plan;
    private final int rowCount;
    private final int widthBytes;
    private final int valueBits;
    private final int runBits;
    private final int dictionarySize;
    private final int runCount;
    private final long base;
    private final long body;
    private final int bodyEnd;
    private final BodySections sections;

    /**
     * @param bytes a whole chunk
     * @param entryOffset offset of the column's entry, which lies inside the bytes
     * @param expectedBody offset of the column's body
     * @param widthBytes of the column's type
     * @throws ChunkFormatException if the entry is not the entry of such a column
     */
    EncodedColumn(byte[] bytes, int entryOffset, int expectedBody, int rowCount, int widthBytes) {
        long entry = Memory.BYTES + entryOffset;
        this.bytes = bytes;
        this.rowCount = rowCount;
        this.widthBytes = widthBytes;
        int encoding = Memory.getByte(bytes, entry + EncodedColumnDescriptor.ENCODING_OFFSET);
        ValueEncoding values =
                ValueEncoding.ofOrdinal(encoding & ~EncodedColumnDescriptor.RUN_LENGTH);
        require(values != null, "Encoding of a column is unknown", encoding);
        this.plan = new EncodingPlan(values, (encoding & EncodedColumnDescriptor.RUN_LENGTH) != 0);
        this.valueBits = Memory.getByte(bytes, entry + EncodedColumnDescriptor.VALUE_BITS_OFFSET);
        this.runBits = Memory.getByte(bytes, entry + EncodedColumnDescriptor.RUN_BITS_OFFSET);
        int width = Memory.getByte(bytes, entry + EncodedColumnDescriptor.WIDTH_OFFSET);
        this.dictionarySize =
                Memory.getInt(bytes, entry + EncodedColumnDescriptor.DICTIONARY_SIZE_OFFSET);
        int bodyOffset = Memory.getInt(bytes, entry + EncodedColumnDescriptor.BODY_OFFSET_OFFSET);
        int bodyBytes = Memory.getInt(bytes, entry + EncodedColumnDescriptor.BODY_LENGTH_OFFSET);
        this.base = Memory.getLong(bytes, entry + EncodedColumnDescriptor.BASE_OFFSET);
        this.runCount = Memory.getInt(bytes, entry + EncodedColumnDescriptor.RUN_COUNT_OFFSET);
        int reserved = Memory.getInt(bytes, entry + EncodedColumnDescriptor.RESERVED_OFFSET);

        boolean isPlain = values == ValueEncoding.PLAIN;
        int maxBits = isPlain ? 0 : BitPacking.MAX_BITS;
        require(width == widthBytes, "Width of an encoded column is not its type's", width);
        require(valueBits >= 0 && valueBits <= maxBits, "Bits of a code are wrong", valueBits);
        int maxRunBits = plan.isRunLength() ? EncodedColumnDescriptor.MAX_RUN_BITS : 0;
        require(runBits >= 0 && runBits <= maxRunBits, "Bits of a run length are wrong", runBits);
        int maxRuns = plan.isRunLength() ? rowCount : 0;
        require(runCount >= 0 && runCount <= maxRuns, "Count of runs is wrong", runCount);
        int maxSize =
                values == ValueEncoding.DICTIONARY
                        ? Math.min(rowCount, EncodedColumnDescriptor.MAX_DICTIONARY_SIZE)
                        : 0;
        require(
                dictionarySize >= 0 && dictionarySize <= maxSize,
                "Size of a dictionary is wrong",
                dictionarySize);
        require(reserved == 0, "Reserved word of an encoded column is not zero", reserved);
        this.sections =
                BodySections.of(
                        plan, rowCount, runCount, widthBytes, valueBits, runBits, dictionarySize);
        require(
                sections.endBytes() == bodyBytes,
                "Length of an encoded column does not match its sections",
                bodyBytes);
        require(
                bodyOffset == expectedBody && (long) bodyOffset + bodyBytes <= bytes.length,
                "Encoded column does not follow the one before it, or ends outside the chunk",
                bodyOffset);
        this.body = Memory.BYTES + bodyOffset;
        this.bodyEnd = bodyOffset + bodyBytes;
        if (plan.isRunLength()) {
            checkFirstRuns();
        }
    }

    private void checkFirstRuns() {
        int tiles = EncodedColumnDescriptor.tileCount(rowCount);
        for (int tile = 0; tile < tiles; tile++) {
            int first = firstRun(tile);
            int next = firstRun(tile + 1);
            require(tile > 0 || first == 0, "Runs of the first tile do not start at 0", first);
            long runs = (long) next - first;
            require(
                    runs >= 1 && runs <= rowsOf(tile) && next <= runCount,
                    "Tile has a wrong count of runs",
                    runs);
        }
        require(firstRun(tiles) == runCount, "Tiles do not contain all runs", firstRun(tiles));
    }

    /** Returns the plan of the column. */
    public EncodingPlan plan() {
        return plan;
    }

    /** Returns the offset in the chunk after the column's body. */
    int bodyEnd() {
        return bodyEnd;
    }

    /** Returns the rows of a tile. */
    public int rowsOf(int tile) {
        return Math.min(TILE_ROWS, rowCount - tile * TILE_ROWS);
    }

    /**
     * Decodes a tile.
     *
     * @param tile from 0
     * @param into receives the values, or the bits of floats; of at least {@link
     *     EncodedColumnDescriptor#TILE_ROWS} elements
     * @param scratch of the calling thread
     * @return the rows of the tile
     * @throws ChunkFormatException if a code is not in the dictionary, or runs do not fill the tile
     */
    public int decodeTile(int tile, long[] into, TileScratch scratch) {
        int rows = rowsOf(tile);
        if (!plan.isRunLength()) {
            decodeValues(tile, tile * TILE_ROWS, rows, into);
            return rows;
        }
        int first = firstRun(tile);
        int runs = firstRun(tile + 1) - first;
        long[] values = scratch.runValues;
        long[] lengths = scratch.runLengths;
        decodeValues(tile, first, runs, values);
        BitPacking.unpack(bytes, body + sections.runLengths(), runBits, first, runs, lengths);
        int row = 0;
        for (int run = 0; run < runs; run++) {
            long value = values[run];
            long end = row + lengths[run] + 1;
            require(end <= rows, "Runs of a tile exceed its rows", end);
            while (row < end) {
                into[row++] = value;
            }
        }
        require(row == rows, "Runs of a tile do not fill it", row);
        return rows;
    }

    /** Decodes stored values, which are those of rows or of runs. */
    private void decodeValues(int tile, int first, int count, long[] into) {
        long at = body + sections.values();
        if (plan.values() == ValueEncoding.PLAIN) {
            PlainValues.load(bytes, at + (long) widthBytes * first, widthBytes, count, into);
            return;
        }
        BitPacking.unpack(bytes, at, valueBits, first, count, into);
        switch (plan.values()) {
            case BIT_PACKED -> {
                for (int i = 0; i < count; i++) {
                    into[i] += base;
                }
            }
            case DELTA -> {
                long value = Memory.getLong(bytes, body + sections.firstValues() + 8L * tile);
                into[0] = value;
                for (int i = 1; i < count; i++) {
                    value += base + into[i];
                    into[i] = value;
                }
            }
            default -> {
                long largest = 0;
                for (int i = 0; i < count; i++) {
                    largest = Math.max(largest, into[i]);
                }
                require(largest < dictionarySize, "Code is not in its dictionary", largest);
                PlainValues.gather(bytes, body + sections.dictionary(), widthBytes, count, into);
            }
        }
    }

    /**
     * Decodes the whole column to an array of values of the column's width.
     *
     * @param at offset of row 0, as in {@link Memory}
     */
    void decode(byte[] target, long at, TileScratch scratch) {
        long[] values = scratch.values;
        int tiles = EncodedColumnDescriptor.tileCount(rowCount);
        for (int tile = 0; tile < tiles; tile++) {
            int rows = decodeTile(tile, values, scratch);
            long to = at + (long) tile * TILE_ROWS * widthBytes;
            PlainValues.store(values, rows, target, to, widthBytes);
        }
    }

    private int firstRun(int tile) {
        return Memory.getInt(bytes, body + sections.firstRuns() + 4L * tile);
    }

    private static void require(boolean holds, String fault, long value) {
        if (!holds) {
            throw new ChunkFormatException(fault + ": value=" + value);
        }
    }
}
