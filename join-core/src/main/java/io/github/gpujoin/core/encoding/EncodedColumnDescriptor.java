// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.encoding;

/**
 * Byte layout of the encoded columns of a chunk. Integers are little-endian. The header of the
 * chunk is followed by one entry for each fixed-width column, then by the bodies of the columns.
 *
 * <pre>
 *   0          1           2           3            4                       8
 *  +----------+-----------+-----------+------------+-----------------------+
 *  | encoding | valueBits | runBits   | widthBytes | dictionarySize        |
 *  +----------+-----------+-----------+------------+-----------------------+
 *  8                                   12
 *  | offset, from the chunk's start    | lengthBytes, of the body          |
 *  +-----------------------------------+-----------------------------------+
 *  16
 *  | base                                                                  |
 *  +-----------------------------------------------------------------------+
 *  24                                  28
 *  | runCount                          | reserved, zero                    |
 *  +-----------------------------------+-----------------------------------+
 * </pre>
 *
 * <p>{@code encoding} is the ordinal of a {@link ValueEncoding}, plus {@link #RUN_LENGTH}. A body
 * starts at a multiple of 16 and contains these sections, each zero-padded to 16 bytes:
 *
 * <pre>
 *  run length:  int32 firstRuns[tiles + 1]    number of each tile's first run, then runCount
 *  delta:       int64 firstValues[tiles]      first value of each tile
 *  dictionary:  dictionarySize values of widthBytes
 *  run length:  runCount codes of runBits     length of each run, minus one
 *  values, of each row, or of each run if there are runs:
 *    plain:     values of widthBytes
 *    others:    codes of valueBits            (delta: the first code of a tile is 0 and not used)
 * </pre>
 *
 * <p>A tile is {@value #TILE_ROWS} rows, the last tile fewer. Runs end with their tile. So each
 * tile decodes without the others: one thread block on a GPU, one loop over the first-level cache
 * on a CPU. Codes are packed from the lowest bit of the first byte upwards, and a packed section
 * has at least 7 bytes after its last code.
 */
public final class EncodedColumnDescriptor {

    /** Rows of a tile. */
    public static final int TILE_ROWS = 1024;

    /** Bytes of a column's entry. */
    public static final int ENTRY_BYTES = 32;

    /** Added to {@code encoding} if the column is stored as runs. */
    public static final int RUN_LENGTH = 0x10;

    public static final int ENCODING_OFFSET = 0;
    public static final int VALUE_BITS_OFFSET = 1;
    public static final int RUN_BITS_OFFSET = 2;
    public static final int WIDTH_OFFSET = 3;
    public static final int DICTIONARY_SIZE_OFFSET = 4;
    public static final int BODY_OFFSET_OFFSET = 8;
    public static final int BODY_LENGTH_OFFSET = 12;
    public static final int BASE_OFFSET = 16;
    public static final int RUN_COUNT_OFFSET = 24;
    public static final int RESERVED_OFFSET = 28;

    /** Most values of a dictionary. */
    public static final int MAX_DICTIONARY_SIZE = 1 << 16;

    /** Bits of the longest run, minus one. */
    static final int MAX_RUN_BITS = 10;

    private EncodedColumnDescriptor() {}

    /** Returns the count of tiles of a column. */
    public static int tileCount(int rowCount) {
        return (int) ((rowCount + (long) TILE_ROWS - 1) / TILE_ROWS);
    }

    static long align(long bytes) {
        return bytes + 15 & -16L;
    }
}
