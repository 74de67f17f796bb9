package io.github.gpujoin.core.layout;

import static io.github.gpujoin.core.layout.ChunkDescriptor.CARRIED_OFFSET;
import static io.github.gpujoin.core.layout.ChunkDescriptor.CHECKSUM_OFFSET;
import static io.github.gpujoin.core.layout.ChunkDescriptor.DIMENSION_OFFSET;
import static io.github.gpujoin.core.layout.ChunkDescriptor.EPOCH_OFFSET;
import static io.github.gpujoin.core.layout.ChunkDescriptor.FACTS;
import static io.github.gpujoin.core.layout.ChunkDescriptor.FLAGS_OFFSET;
import static io.github.gpujoin.core.layout.ChunkDescriptor.HEADER_BYTES;
import static io.github.gpujoin.core.layout.ChunkDescriptor.HEADER_LENGTH_OFFSET;
import static io.github.gpujoin.core.layout.ChunkDescriptor.LENGTH_OFFSET;
import static io.github.gpujoin.core.layout.ChunkDescriptor.MAGIC;
import static io.github.gpujoin.core.layout.ChunkDescriptor.MAGIC_OFFSET;
import static io.github.gpujoin.core.layout.ChunkDescriptor.MANY_PARTITIONS;
import static io.github.gpujoin.core.layout.ChunkDescriptor.NULL_LENGTH;
import static io.github.gpujoin.core.layout.ChunkDescriptor.PARTITION_OFFSET;
import static io.github.gpujoin.core.layout.ChunkDescriptor.RESERVED_OFFSET;
import static io.github.gpujoin.core.layout.ChunkDescriptor.ROW_COUNT_OFFSET;
import static io.github.gpujoin.core.layout.ChunkDescriptor.SCHEMA_OFFSET;
import static io.github.gpujoin.core.layout.ChunkDescriptor.SEQUENCE_OFFSET;
import static io.github.gpujoin.core.layout.ChunkDescriptor.UNPARTITIONED;
import static io.github.gpujoin.core.layout.ChunkDescriptor.VERSION;
import static io.github.gpujoin.core.layout.ChunkDescriptor.VERSION_OFFSET;
import static io.github.gpujoin.core.layout.ChunkDescriptor.VERSION_WITH_FLAGS;

import io.github.gpujoin.core.region.Memory;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.IntToLongFunction;

/**
 * A sealed batch of rows in columns, backed by one byte array in the layout of {@link
 * ChunkDescriptor}. Immutable, so threads may share it.
 *
 * <p>{@link #wrap} checks every header field against the array's own bounds before anything else is
 * read; after that, column extents are known to lie inside the array, and hot loops may read {@link
 * #array()} at {@link #columnOffset} without further checks. The getters check the row.
 */
public final class Chunk {

    private final ChunkSchema schema;
    private final byte[] bytes;
    private final int[] offsets;
    private final int rowCount;

    private Chunk(ChunkSchema schema, byte[] bytes, int rowCount, int[] offsets) {
        this.schema = schema;
        this.bytes = bytes;
        this.rowCount = rowCount;
        this.offsets = offsets;
    }

    /**
     * Takes over an array that holds exactly one chunk.
     *
     * @throws ChunkFormatException where a header field, an extent or the checksum is wrong
     */
    public static Chunk wrap(ChunkSchema schema, byte[] bytes) {
        Chunk chunk = unverified(schema, bytes);
        long expected = Memory.getLong(bytes, Memory.BYTES + CHECKSUM_OFFSET);
        long actual = ChunkChecksum.of(bytes, Memory.BYTES, bytes.length);
        require(expected == actual, "the checksum must match", "checksum", actual);
        return chunk;
    }

    /** As {@link #wrap}, without reading the payload for its checksum: for bytes just sealed. */
    static Chunk unverified(ChunkSchema schema, byte[] bytes) {
        checkHeader(schema, bytes);
        int length = bytes.length;
        int rows = intAt(bytes, ROW_COUNT_OFFSET);
        require(rows >= 0, "rows are counted from 0", "rowCount", rows);
        int[] offsets = schema.offsets(rows);
        int fixedEnd = offsets[schema.size()];
        int carried = intAt(bytes, CARRIED_OFFSET);
        if (schema.hasCarried()) {
            require(
                    carried == fixedEnd,
                    "carried bytes follow the columns",
                    "carriedOffset",
                    carried);
            require(
                    carried + 4L * rows <= length,
                    "the carried index lies in the chunk",
                    "rowCount",
                    rows);
            checkCarried(schema, bytes, carried, rows);
        } else {
            require(carried == 0, "no column is carried", "carriedOffset", carried);
            require(fixedEnd == length, "the columns fill the chunk", "rowCount", rows);
        }
        return new Chunk(schema, bytes, rows, offsets);
    }

    /** All fields but those that tell where rows stand. */
    private static void checkHeader(ChunkSchema schema, byte[] bytes) {
        require(bytes.length >= HEADER_BYTES, "a chunk has a header", "length", bytes.length);
        require(bytes.length % 8 == 0, "a chunk is whole words", "length", bytes.length);
        int magic = intAt(bytes, MAGIC_OFFSET);
        require(magic == MAGIC, "a chunk starts with GJC1", "magic", magic);
        int version = Memory.getShort(bytes, Memory.BYTES + VERSION_OFFSET);
        require(
                version == VERSION || version == VERSION_WITH_FLAGS,
                "this release reads versions 1 and 2",
                "version",
                version);
        int header = Memory.getShort(bytes, Memory.BYTES + HEADER_LENGTH_OFFSET);
        require(header == HEADER_BYTES, "the header has 64 bytes", "headerLength", header);
        int length = intAt(bytes, LENGTH_OFFSET);
        require(length == bytes.length, "the length is the array's", "lengthBytes", length);
        int fingerprint = intAt(bytes, SCHEMA_OFFSET);
        if (fingerprint != schema.fingerprint()) {
            throw new ChunkFormatException(
                    "a chunk is read under the schema it was written under: schema="
                            + schema
                            + ", fingerprint="
                            + schema.fingerprint()
                            + ", schemaFingerprint="
                            + fingerprint);
        }
        int dimension = Memory.getShort(bytes, Memory.BYTES + DIMENSION_OFFSET);
        require(dimension >= FACTS, "dimensions count from 0", "dimension", dimension);
        int partition = intAt(bytes, PARTITION_OFFSET);
        require(partition >= UNPARTITIONED, "partitions count from 0", "partition", partition);
        int flags = Memory.getShort(bytes, Memory.BYTES + FLAGS_OFFSET);
        if (version == VERSION) {
            require(flags == 0, "version 1 has no flags", "flags", flags);
        } else {
            require(flags == MANY_PARTITIONS, "version 2 has one flag", "flags", flags);
            require(partition >= 0, "a receiver has partitions", "partition", partition);
        }
        long reserved = Memory.getLong(bytes, Memory.BYTES + RESERVED_OFFSET);
        require(reserved == 0, "the reserved word is zero", "reserved", reserved);
    }

    /** Walks every carried value once, so that cursors need not check what they read. */
    private static void checkCarried(ChunkSchema schema, byte[] bytes, int carried, int rows) {
        int[] widths = schema.carriedWidths();
        int data = carried + 4 * rows;
        int room = bytes.length - data;
        int end = 0;
        for (int row = 0; row < rows; row++) {
            int at = data + end;
            end = intAt(bytes, carried + 4 * row);
            if (end < 0 || end > room) {
                throw rowOutside(row, end, room);
            }
            int limit = data + end;
            for (int width : widths) {
                int length = limit - at < 4 ? Integer.MAX_VALUE : intAt(bytes, at);
                boolean isNull = length == NULL_LENGTH;
                boolean fits = width == 0 ? length >= 0 : length == width;
                int valueBytes = isNull ? 0 : length;
                if (!(isNull || fits) || valueBytes > limit - at - 4) {
                    throw valueOutside(row, limit - at, length);
                }
                at += 4 + valueBytes;
            }
            if (at != limit) {
                throw rowOutside(row, end, room);
            }
        }
        require(
                ChunkDescriptor.alignChunk(data + end) == bytes.length,
                "carried rows fill the chunk",
                "end",
                end);
    }

    private static ChunkFormatException rowOutside(int row, int end, int room) {
        return new ChunkFormatException(
                "carried rows hold their values, one row after the other, inside the chunk: row="
                        + row
                        + ", end="
                        + end
                        + ", room="
                        + room);
    }

    private static ChunkFormatException valueOutside(int row, int room, int length) {
        return new ChunkFormatException(
                "a carried value has its type's width and lies in its row: row="
                        + row
                        + ", room="
                        + room
                        + ", valueLength="
                        + length);
    }

    public ChunkSchema schema() {
        return schema;
    }

    public int rowCount() {
        return rowCount;
    }

    public int lengthBytes() {
        return bytes.length;
    }

    /** Number of the dimension this chunk belongs to, {@link ChunkDescriptor#FACTS} for facts. */
    public int dimension() {
        return Memory.getShort(bytes, Memory.BYTES + DIMENSION_OFFSET);
    }

    /**
     * Radix partition of all rows, or {@link ChunkDescriptor#UNPARTITIONED}; if the rows are of
     * {@linkplain #hasManyPartitions() many partitions}, one of those of their receiver.
     */
    public int partition() {
        return intAt(bytes, PARTITION_OFFSET);
    }

    /** Whether rows are of several radix partitions of one receiver, told by their keys. */
    public boolean hasManyPartitions() {
        return Memory.getShort(bytes, Memory.BYTES + FLAGS_OFFSET) == MANY_PARTITIONS;
    }

    public long epoch() {
        return Memory.getLong(bytes, Memory.BYTES + EPOCH_OFFSET);
    }

    public long sequence() {
        return Memory.getLong(bytes, Memory.BYTES + SEQUENCE_OFFSET);
    }

    /**
     * The chunk as it goes on a wire or into state, checksum included; not to be written to. A
     * chunk that was just sealed gets its checksum here, so that one that never leaves its thread's
     * operators never pays for it.
     */
    public byte[] bytes() {
        long at = Memory.BYTES + CHECKSUM_OFFSET;
        // Threads that meet here write the same value, and an aligned long is written whole.
        if (Memory.getLong(bytes, at) == ChunkChecksum.NONE) {
            Memory.putLong(bytes, at, ChunkChecksum.of(bytes, Memory.BYTES, bytes.length));
        }
        return bytes;
    }

    /** The array behind the chunk, for loops over columns: its checksum may still be missing. */
    public byte[] array() {
        return bytes;
    }

    /** Where a fixed column starts in {@link #array()}; -1 for a carried column. */
    public int columnOffset(int column) {
        return offsets[column];
    }

    /** Value of an INT32 column. */
    public int getInt(int column, int row) {
        return Memory.getInt(bytes, fixedAt(column, row, ColumnType.INT32));
    }

    /** Value of an INT32 or INT64 column. */
    public long getLong(int column, int row) {
        if (schema.column(column).type() == ColumnType.INT32) {
            return getInt(column, row);
        }
        return Memory.getLong(bytes, fixedAt(column, row, ColumnType.INT64));
    }

    /** Value of a FLOAT32 or FLOAT64 column. */
    public double getDouble(int column, int row) {
        if (schema.column(column).type() == ColumnType.FLOAT32) {
            int bits = Memory.getInt(bytes, fixedAt(column, row, ColumnType.FLOAT32));
            return Float.intBitsToFloat(bits);
        }
        long bits = Memory.getLong(bytes, fixedAt(column, row, ColumnType.FLOAT64));
        return Double.longBitsToDouble(bits);
    }

    /**
     * A copy with other values in a fixed INT64 column.
     *
     * @param values by row
     */
    public Chunk withLongs(int column, IntToLongFunction values) {
        byte[] copy = bytes.clone();
        for (int row = 0; row < rowCount; row++) {
            Memory.putLong(copy, fixedAt(column, row, ColumnType.INT64), values.applyAsLong(row));
        }
        Memory.putLong(copy, Memory.BYTES + CHECKSUM_OFFSET, ChunkChecksum.NONE);
        return new Chunk(schema, copy, rowCount, offsets);
    }

    /**
     * A copy that belongs to another radix partition.
     *
     * @param partition from 0, or {@link ChunkDescriptor#UNPARTITIONED}
     */
    public Chunk withPartition(int partition) {
        byte[] copy = bytes.clone();
        Memory.putInt(copy, Memory.BYTES + PARTITION_OFFSET, partition);
        Memory.putLong(copy, Memory.BYTES + CHECKSUM_OFFSET, ChunkChecksum.NONE);
        return new Chunk(schema, copy, rowCount, offsets);
    }

    /** Where the row's carried bytes start in {@link #array()}. */
    public int carriedStart(int row) {
        checkCarriedRow(row);
        int carried = offsets[schema.size()];
        int data = carried + 4 * rowCount;
        return row == 0 ? data : data + intAt(bytes, carried + 4 * (row - 1));
    }

    /** Where the row's carried bytes end in {@link #array()}. */
    public int carriedEnd(int row) {
        checkCarriedRow(row);
        int carried = offsets[schema.size()];
        return carried + 4 * rowCount + intAt(bytes, carried + 4 * row);
    }

    private long fixedAt(int column, int row, ColumnType expected) {
        checkRow(row);
        Column declared = schema.column(column);
        if (declared.type() != expected || offsets[column] < 0) {
            throw new IllegalArgumentException(
                    "the column is read as what it is: column=" + declared + ", as=" + expected);
        }
        return Memory.BYTES + offsets[column] + (long) expected.widthBytes() * row;
    }

    private void checkRow(int row) {
        if (row < 0 || row >= rowCount) {
            throw new IndexOutOfBoundsException("row=" + row + ", rowCount=" + rowCount);
        }
    }

    private void checkCarriedRow(int row) {
        checkRow(row);
        if (!schema.hasCarried()) {
            throw new IllegalArgumentException(
                    "carried bytes are of a schema with carried columns: schema=" + schema);
        }
    }

    private static int intAt(byte[] bytes, int offset) {
        return Memory.getInt(bytes, Memory.BYTES + offset);
    }

    private static void require(boolean holds, String rule, String name, long value) {
        if (!holds) {
            throw new ChunkFormatException(rule + ": " + name + "=" + value);
        }
    }

    /** Chunks are equal where all bytes are, header included. */
    @Override
    public boolean equals(Object other) {
        return other instanceof Chunk that
                && schema.equals(that.schema)
                && Arrays.equals(bytes(), that.bytes());
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes());
    }

    @Override
    public String toString() {
        return "Chunk[rows="
                + rowCount
                + ", lengthBytes="
                + bytes.length
                + ", dimension="
                + dimension()
                + ", partition="
                + partition()
                + ", sequence="
                + sequence()
                + "]";
    }

    /** Text of a carried STRING value whose bytes start at {@code at}. */
    static String text(byte[] bytes, int at, int length) {
        return new String(bytes, at, length, StandardCharsets.UTF_8);
    }
}
