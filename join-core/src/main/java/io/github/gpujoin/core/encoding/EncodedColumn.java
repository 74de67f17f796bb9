// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.encoding;

import static io.github.gpujoin.core.encoding.EncodedColumnDescriptor.TILE_ROWS;

import io.github.gpujoin.core.layout.ChunkFormatException;
import io.github.gpujoin.core.region.Memory;
import org.jspecify.annotations.Nullable;

/**
 * An encoded column of a chunk on the heap or in native memory. Each field of its entry is read
 * once, and everything that locates bytes is checked, so that decoding reads nothing outside the
 * body even if another process writes to the memory. Thread-safe for distinct targets.
 */
public final class EncodedColumn {

    private final byte @Nullable [] bytes;
    private final EncodingPlan plan;
    private final int rowCount;
    private final int widthBytes;
    private final int valueBits;
    private final int runBits;
    private final int dictionarySize;
    private final int runCount;
    private final long base;
    private final long entry;
    private final long body;
    private final int bodyEnd;
    private final BodySections sections;

    /** Whether sums of codes may exceed the column's type; its lower bits are the value then. */
    private final boolean mayExceedWidth;

    /** The tile that {@link #value} decoded last, if no value decodes by itself. */
    private volatile @Nullable Tile lastTile;

    private record Tile(int number, byte[] values) {}

    /**
     * @param bytes array of the chunk, or null for native memory
     * @param start offset of the chunk, as in {@link Memory}
     * @param lengthBytes of the chunk
     * @param entryOffset offset in the chunk of the column's entry, which lies inside the chunk
     * @param expectedBody offset in the chunk of the column's body
     * @param widthBytes of the column's type
     * @throws ChunkFormatException if the entry is not the entry of such a column
     */
    EncodedColumn(
            byte @Nullable [] bytes,
            long start,
            int lengthBytes,
            int entryOffset,
            int expectedBody,
            int rowCount,
            int widthBytes) {
        this.entry = start + entryOffset;
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
                bodyOffset == expectedBody && (long) bodyOffset + bodyBytes <= lengthBytes,
                "Encoded column does not follow the one before it, or ends outside the chunk",
                bodyOffset);
        this.body = start + bodyOffset;
        this.bodyEnd = bodyOffset + bodyBytes;
        this.mayExceedWidth = mayExceedWidth(values);
        if (plan.isRunLength()) {
            checkFirstRuns();
        }
    }

    private boolean mayExceedWidth(ValueEncoding values) {
        if (widthBytes == Long.BYTES) {
            return false;
        }
        long largest = (1L << 8 * widthBytes - 1) - 1;
        return switch (values) {
            case PLAIN, DICTIONARY -> false;
            case DELTA -> true;
            case BIT_PACKED ->
                    base < -largest - 1 || base > largest || base + (1L << valueBits) - 1 > largest;
        };
    }

    private void checkFirstRuns() {
        int tiles = EncodedColumnDescriptor.tileCount(rowCount);
        int first = firstRun(0);
        require(first == 0, "Runs of the first tile do not start at 0", first);
        for (int tile = 0; tile < tiles; tile++) {
            first += runsOf(tile, first);
        }
        require(first == runCount, "Tiles do not contain all runs", first);
    }

    /** Returns the count of runs of a tile, whose first run has been read. */
    private int runsOf(int tile, int first) {
        long runs = (long) firstRun(tile + 1) - first;
        require(
                first >= 0 && runs >= 1 && runs <= rowsOf(tile) && first + runs <= runCount,
                "Tile has a wrong count of runs",
                runs);
        return (int) runs;
    }

    /** Returns the plan of the column. */
    public EncodingPlan plan() {
        return plan;
    }

    /** Whether each value is a code added to a base. */
    boolean isBitPacked() {
        return plan.values() == ValueEncoding.BIT_PACKED && !plan.isRunLength();
    }

    byte @Nullable [] bytes() {
        return bytes;
    }

    int valueBits() {
        return valueBits;
    }

    long base() {
        return base;
    }

    /** Returns the offset of the codes in {@link #bytes()}, or their address. */
    long codes() {
        return body + sections.values();
    }

    /** Returns the bytes of the column's body. */
    int bodyBytes() {
        return (int) sections.endBytes();
    }

    /**
     * Copies entry and body to another chunk.
     *
     * @param target array of that chunk, or null for native memory
     * @param start offset of that chunk
     */
    void copyTo(byte @Nullable [] target, long start, int entryOffset, int bodyOffset) {
        long copy = start + entryOffset;
        Memory.copy(bytes, entry, target, copy, EncodedColumnDescriptor.ENTRY_BYTES);
        Memory.putInt(target, copy + EncodedColumnDescriptor.BODY_OFFSET_OFFSET, bodyOffset);
        Memory.copy(bytes, body, target, start + bodyOffset, bodyBytes());
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
     * @param into receives 64-bit values, or the bits of floats; has room for {@code
     *     int64[rowsOf(tile)]} at {@code to}
     * @param scratch of the calling thread
     * @return the rows of the tile
     * @throws ChunkFormatException if a code is not in the dictionary, or runs do not fill the tile
     */
    int decodeTile(int tile, byte[] into, long to, TileScratch scratch) {
        int rows = rowsOf(tile);
        if (!plan.isRunLength()) {
            decodeValues(tile, tile * TILE_ROWS, rows, into, to, scratch);
            return rows;
        }
        int first = firstRun(tile);
        int runs = runsOf(tile, first);
        byte[] values = scratch.runValues;
        byte[] lengths = scratch.runLengths;
        decodeValues(tile, first, runs, values, Memory.BYTES, scratch);
        unpack(
                body + sections.runLengths(),
                runBits,
                first,
                runs,
                1,
                lengths,
                Memory.BYTES,
                scratch);
        int row = 0;
        for (int run = 0; run < runs; run++) {
            long value = Memory.getLong(values, Memory.BYTES + 8L * run);
            long end = row + Memory.getLong(lengths, Memory.BYTES + 8L * run);
            require(end <= rows, "Runs of a tile exceed its rows", end);
            for (; row < end; row++) {
                Memory.putLong(into, to + 8L * row, value);
            }
        }
        require(row == rows, "Runs of a tile do not fill it", row);
        return rows;
    }

    /** Whether a value decodes without the values before it. */
    boolean isRandomAccess() {
        return !plan.isRunLength() && plan.values() != ValueEncoding.DELTA;
    }

    /** Returns a value, or the bits of a float. A few reads of neighbours cost little. */
    long value(int row) {
        if (isRandomAccess()) {
            return decodeStored(row);
        }
        int number = row / TILE_ROWS;
        Tile tile = lastTile;
        if (tile == null || tile.number != number) {
            tile = new Tile(number, new byte[Long.BYTES * TILE_ROWS]);
            decodeTile(number, tile.values, Memory.BYTES, new TileScratch());
            lastTile = tile;
        }
        return Memory.getLong(tile.values, Memory.BYTES + 8L * (row % TILE_ROWS));
    }

    private long decodeStored(int row) {
        long at = body + sections.values();
        if (plan.values() == ValueEncoding.PLAIN) {
            return get(at, row);
        }
        long code = BitPacking.get(bytes, at, valueBits, row);
        return plan.values() == ValueEncoding.DICTIONARY ? entry(code) : narrow(base + code);
    }

    /**
     * Decodes consecutive rows of a column with {@linkplain #isRandomAccess random access}.
     *
     * @param count at most {@link EncodedColumnDescriptor#TILE_ROWS}
     * @param into array of room for {@code int64[count]} at {@code to}
     * @throws ChunkFormatException if a code is not in the dictionary
     */
    void copy(int firstRow, int count, byte[] into, long to, TileScratch scratch) {
        decodeValues(0, firstRow, count, into, to, scratch);
    }

    /**
     * Decodes some rows of a column with {@linkplain #isRandomAccess random access}.
     *
     * @param rows address of {@code int32[count]}
     * @param target address of room for {@code int64[count]}
     * @throws ChunkFormatException if a code is not in the dictionary
     */
    void gather(long rows, int count, long target) {
        long at = body + sections.values();
        switch (plan.values()) {
            case PLAIN -> {
                for (int i = 0; i < count; i++) {
                    Memory.putLong(target + 8L * i, get(at, Memory.getInt(rows + 4L * i)));
                }
            }
            case DICTIONARY -> {
                BitPacking.gather(bytes, at, valueBits, rows, count, 0, target);
                for (int i = 0; i < count; i++) {
                    Memory.putLong(target + 8L * i, entry(Memory.getLong(target + 8L * i)));
                }
            }
            default -> {
                BitPacking.gather(bytes, at, valueBits, rows, count, base, target);
                narrow(null, target, count);
            }
        }
    }

    /** Returns the value of a dictionary code. */
    private long entry(long code) {
        require(code < dictionarySize, "Code is not in its dictionary", code);
        return get(body + sections.dictionary(), (int) code);
    }

    /** Decodes stored values, which are those of rows or of runs. */
    private void decodeValues(
            int tile, int first, int count, byte[] into, long to, TileScratch scratch) {
        long at = body + sections.values();
        switch (plan.values()) {
            case PLAIN -> {
                long from = at + (long) widthBytes * first;
                PlainValues.load(bytes, from, widthBytes, count, into, to);
            }
            case BIT_PACKED -> {
                unpack(at, valueBits, first, count, base, into, to, scratch);
                narrow(into, to, count);
            }
            case DELTA -> {
                unpack(at, valueBits, first, count, base, into, to, scratch);
                long value = Memory.getLong(bytes, body + sections.firstValues() + 8L * tile);
                Memory.putLong(into, to, value);
                for (int i = 1; i < count; i++) {
                    value += Memory.getLong(into, to + 8L * i);
                    Memory.putLong(into, to + 8L * i, value);
                }
                narrow(into, to, count);
            }
            case DICTIONARY -> {
                unpack(at, valueBits, first, count, 0, into, to, scratch);
                long largest = 0;
                for (int i = 0; i < count; i++) {
                    largest = Math.max(largest, Memory.getLong(into, to + 8L * i));
                }
                require(largest < dictionarySize, "Code is not in its dictionary", largest);
                long values = body + sections.dictionary();
                PlainValues.gather(bytes, values, widthBytes, count, into, to);
            }
        }
    }

    private void narrow(byte @Nullable [] values, long at, int count) {
        if (mayExceedWidth) {
            for (int i = 0; i < count; i++) {
                Memory.putLong(values, at + 8L * i, narrow(Memory.getLong(values, at + 8L * i)));
            }
        }
    }

    /** Returns the value that the lower bits are in the column's type. */
    private long narrow(long value) {
        int unused = Long.SIZE - 8 * widthBytes;
        return value << unused >> unused;
    }

    /** Returns value number {@code index} of a section of whole values. */
    private long get(long section, int index) {
        return switch (widthBytes) {
            case Byte.BYTES -> Memory.getByte(bytes, section + index);
            case Short.BYTES -> Memory.getShort(bytes, section + 2L * index);
            case Integer.BYTES -> Memory.getInt(bytes, section + 4L * index);
            default -> Memory.getLong(bytes, section + 8L * index);
        };
    }

    /** Unpacks codes of at most one tile. */
    private void unpack(
            long section,
            int bits,
            int first,
            int count,
            long addend,
            byte[] into,
            long to,
            TileScratch scratch) {
        byte[] heap = bytes;
        long at = section;
        if (heap == null) {
            // One loop, over the heap, is faster than a loop over either memory.
            heap = scratch.packed;
            long bit = (long) first * bits;
            long from = bit >>> 3;
            long length = ((bit & 7) + (long) (count - 1) * bits >>> 3) + Long.BYTES;
            Memory.copy(null, section + from, heap, Memory.BYTES, bits == 0 ? 0 : length);
            at = Memory.BYTES - from;
        }
        BitPacking.unpack(heap, at, bits, first, count, addend, into, to);
    }

    /**
     * Decodes the whole column to an array of values of the column's width.
     *
     * @param at offset of row 0, as in {@link Memory}
     */
    void decode(byte[] target, long at, TileScratch scratch) {
        int tiles = EncodedColumnDescriptor.tileCount(rowCount);
        for (int tile = 0; tile < tiles; tile++) {
            long to = at + (long) tile * TILE_ROWS * widthBytes;
            if (widthBytes == Long.BYTES) {
                decodeTile(tile, target, to, scratch);
            } else {
                int rows = decodeTile(tile, scratch.values, Memory.BYTES, scratch);
                PlainValues.narrow(scratch.values, rows, target, to, widthBytes);
            }
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
