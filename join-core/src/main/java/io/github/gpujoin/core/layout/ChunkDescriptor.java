// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.layout;

/**
 * Byte layout of a chunk, the format of rows on every wire and in state. Integers are
 * little-endian.
 *
 * <pre>
 *   0                   4         6         8                  12
 *  +-------------------+---------+---------+-------------------+-------------------+
 *  | magic             | version | hdrLen  | lengthBytes       | rowCount          |
 *  +-------------------+---------+---------+-------------------+-------------------+
 *  16                  20        22        24                  28
 *  | schemaFingerprint | dimens. | flags   | partition         |variableWidthOffset|
 *  +-------------------+---------+---------+-------------------+-------------------+
 *  32                                      40
 *  | epoch                                 | sequence                              |
 *  +---------------------------------------+---------------------------------------+
 *  48                                      56
 *  | checksum                              | reserved, zero                        |
 *  +---------------------------------------+---------------------------------------+
 *  64: fixed column 0: rowCount values, zero-padded to 64 bytes
 *      fixed column 1 ...
 *  variableWidthOffset (0 if no column has variable width):
 *      int32 ends[rowCount]   end of each row's variable-width values, from the byte after ends
 *      the rows' values; for each variable-width column, in schema order:
 *        int32 length (-1 for null; 1, 2, 4 or 8 for a number), then as many bytes
 *  lengthBytes: the whole chunk, a multiple of 8
 * </pre>
 *
 * <p>The width of a value is its {@link ColumnType}'s, and values are not aligned beyond the start
 * of their column. The fingerprint covers the types, so that a release that lacks a type rejects
 * chunks with it.
 *
 * <p>Version 1 has no flags: the field is zero. Version 2 has at least one:
 *
 * <ul>
 *   <li>{@link #MANY_PARTITIONS}: the rows are of many radix partitions, all of one receiver.
 *       {@code partition} is one partition of that receiver, and the key of a row determines the
 *       partition of the row. Such a chunk is sent between tasks and never stored.
 *   <li>{@link #ENCODED}: the fixed-width columns are encoded. {@code
 *       io.github.gpujoin.core.encoding.EncodedColumnDescriptor} describes what follows the header;
 *       the variable-width section is the same. A {@link Chunk} of such bytes decodes its columns
 *       for readers of plain ones.
 * </ul>
 */
public final class ChunkDescriptor {

    /** The bytes "GJC1". */
    public static final int MAGIC = 0x31434A47;

    public static final int VERSION = 1;

    /** Version of chunks with flags. */
    public static final int VERSION_WITH_FLAGS = 2;

    /** Flag of a chunk whose rows are of many radix partitions. */
    public static final int MANY_PARTITIONS = 1;

    /** Flag of a chunk whose fixed-width columns are encoded. */
    public static final int ENCODED = 2;

    public static final int HEADER_BYTES = 64;

    public static final int MAGIC_OFFSET = 0;
    public static final int VERSION_OFFSET = 4;
    public static final int HEADER_LENGTH_OFFSET = 6;
    public static final int LENGTH_OFFSET = 8;
    public static final int ROW_COUNT_OFFSET = 12;
    public static final int SCHEMA_OFFSET = 16;
    public static final int DIMENSION_OFFSET = 20;
    public static final int FLAGS_OFFSET = 22;
    public static final int PARTITION_OFFSET = 24;
    public static final int VARIABLE_WIDTH_OFFSET = 28;
    public static final int EPOCH_OFFSET = 32;
    public static final int SEQUENCE_OFFSET = 40;
    public static final int CHECKSUM_OFFSET = 48;
    public static final int RESERVED_OFFSET = 56;

    /** {@code dimension} of a chunk of facts. */
    public static final int FACTS = -1;

    /** {@code partition} of a chunk whose rows are of any radix partition. */
    public static final int UNPARTITIONED = -1;

    /** Length of a null variable-width value. */
    public static final int NULL_LENGTH = -1;

    private ChunkDescriptor() {}

    /** Returns the next offset at which a plain column may start. */
    static long alignColumn(long offset) {
        return (offset + 63) & -64L;
    }

    /** Returns the length of a chunk whose last value ends at {@code length}. */
    public static int alignChunk(int length) {
        return (length + 7) & -8;
    }
}
