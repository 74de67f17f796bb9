// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.encoding;

import static io.github.gpujoin.core.encoding.EncodedColumnDescriptor.ENTRY_BYTES;

import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkHeader;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.region.Memory;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Assembles chunks from columns that are encoded already, column by column. Not thread-safe.
 *
 * <p>Call {@link #begin}, then one of the {@code add} methods for each column of the schema, in
 * order, then {@link #seal}.
 */
public final class EncodedChunkAssembler {

    private final ChunkSchema schema;
    private byte[] bytes = new byte[0];

    /** Memory of the transient chunk before the last. */
    private byte[] spare = new byte[0];

    /** By columns of the sources. */
    private final Map<Integer, PlainColumn> decoded = new HashMap<>();

    private final ColumnEncoder encoder = new ColumnEncoder();
    private int rowCount;
    private int column;
    private int bodyOffset;

    /**
     * @param schema of fixed-width columns
     */
    public EncodedChunkAssembler(ChunkSchema schema) {
        if (schema.hasVariableWidth()) {
            throw new IllegalArgumentException(
                    "Schema has a variable-width column: schema=" + schema);
        }
        this.schema = schema;
    }

    /**
     * Starts a chunk; drops columns that were added and not sealed.
     *
     * @param rowCount at least 1
     */
    public void begin(int rowCount) {
        this.rowCount = rowCount;
        this.column = 0;
        this.bodyOffset = ChunkDescriptor.HEADER_BYTES + schema.size() * ENTRY_BYTES;
    }

    /**
     * Adds rows of a column of another chunk. All rows stay encoded as they are, and some of a
     * bit-packed column from a multiple of eight; others are decoded.
     */
    public void add(EncodedChunk source, int sourceColumn, int firstRow) {
        EncodedColumn added = source.column(sourceColumn);
        if (rowCount == source.rowCount()) {
            reserve(added.bodyBytes());
            added.copyTo(bytes, Memory.BYTES, entryOffset(), bodyOffset);
            next(added.bodyBytes());
        } else if (added.isBitPacked() && firstRow % Byte.SIZE == 0) {
            int bits = added.valueBits();
            addPacked(
                    added.bytes(), added.codes() + firstRow / Byte.SIZE * bits, bits, added.base());
        } else {
            PlainColumn values = decoded(sourceColumn);
            values.bind(source);
            int widthBytes = schema.column(column).type().widthBytes();
            addPlain(values.base(), values.start() + (long) widthBytes * firstRow);
        }
    }

    /**
     * Adds a column of packed codes.
     *
     * @param codes address of the codes, which are packed as {@link EncodedColumnDescriptor} says
     * @param bits of a code
     * @param base added to each code
     */
    public void addPacked(long codes, int bits, long base) {
        addPacked(null, codes, bits, base);
    }

    private void addPacked(byte @Nullable [] array, long codes, int bits, long base) {
        int bodyBytes = (int) BitPacking.sectionBytes(rowCount, bits);
        reserve(bodyBytes);
        writeEntry(ValueEncoding.BIT_PACKED, bits, base, bodyBytes);
        int codesBytes = (int) ((long) rowCount * bits + 7 >>> 3);
        copyBody(array, codes, codesBytes, bodyBytes);
        clearBehindCodes(bits, codesBytes);
        next(bodyBytes);
    }

    /**
     * Adds a column of values of the column's width.
     *
     * @param base array of the values, or null for native memory
     */
    public void addPlain(byte @Nullable [] base, long offset) {
        int valuesBytes = rowCount * schema.column(column).type().widthBytes();
        int at = addPlain();
        Memory.copy(base, offset, bytes, Memory.BYTES + at, valuesBytes);
    }

    /**
     * Adds a column of values of the column's width, which the caller writes to {@link #bytes} from
     * the returned offset on, before it adds another column.
     */
    public int addPlain() {
        int valuesBytes = rowCount * schema.column(column).type().widthBytes();
        int bodyBytes = (int) EncodedColumnDescriptor.align(valuesBytes);
        reserve(bodyBytes);
        writeEntry(ValueEncoding.PLAIN, 0, 0, bodyBytes);
        int offset = bodyOffset;
        Arrays.fill(bytes, offset + valuesBytes, offset + bodyBytes, (byte) 0);
        next(bodyBytes);
        return offset;
    }

    /** Returns the array of the chunk that is assembled; another one after the next column. */
    public byte[] bytes() {
        return bytes;
    }

    /**
     * Adds a column that has a dictionary.
     *
     * @param codes one for each row, each less than {@code size}
     * @param dictionary values by code, of which the first {@code size} count
     * @param size at most {@code rowCount}, and {@link EncodedColumnDescriptor#MAX_DICTIONARY_SIZE}
     * @param isOfRuns whether runs of equal codes, stored once, may be shorter
     */
    public void addCodes(PackedCodes codes, long[] dictionary, int size, boolean isOfRuns) {
        if (isOfRuns) {
            addRuns(codes, dictionary, size);
            return;
        }
        int widthBytes = schema.column(column).type().widthBytes();
        int dictionaryBytes = (int) EncodedColumnDescriptor.align((long) size * widthBytes);
        int sectionBytes = (int) BitPacking.sectionBytes(rowCount, codes.bits());
        int bodyBytes = dictionaryBytes + sectionBytes;
        reserve(bodyBytes);
        writeEntry(ValueEncoding.DICTIONARY, codes.bits(), 0, bodyBytes);
        Memory.putInt(
                bytes,
                Memory.BYTES + entryOffset() + EncodedColumnDescriptor.DICTIONARY_SIZE_OFFSET,
                size);
        Arrays.fill(bytes, bodyOffset, bodyOffset + dictionaryBytes, (byte) 0);
        PlainValues.store(dictionary, size, bytes, Memory.BYTES + bodyOffset, widthBytes);
        codes.writeTo(bytes, bodyOffset + dictionaryBytes, sectionBytes);
        next(bodyBytes);
    }

    private void addRuns(PackedCodes codes, long[] dictionary, int size) {
        encoder.loadCodes(codes, dictionary, size, schema.column(column).type().widthBytes());
        int bodyBytes = Math.toIntExact(encoder.bodyBytes());
        reserve(bodyBytes);
        // The encoder writes to zeroed bytes.
        Arrays.fill(bytes, entryOffset(), entryOffset() + ENTRY_BYTES, (byte) 0);
        Arrays.fill(bytes, bodyOffset, bodyOffset + bodyBytes, (byte) 0);
        encoder.write(bytes, entryOffset(), bodyOffset);
        next(bodyBytes);
    }

    /** Returns a reader that decodes a chunk once, however many of its ranges are added. */
    private PlainColumn decoded(int sourceColumn) {
        return decoded.computeIfAbsent(sourceColumn, PlainColumn::new);
    }

    private void copyBody(byte @Nullable [] base, long offset, int lengthBytes, int bodyBytes) {
        Memory.copy(base, offset, bytes, Memory.BYTES + bodyOffset, lengthBytes);
        Arrays.fill(bytes, bodyOffset + lengthBytes, bodyOffset + bodyBytes, (byte) 0);
    }

    /** Clears the bits of the last byte that belong to no code. */
    private void clearBehindCodes(int bits, int codesBytes) {
        int used = (int) ((long) rowCount * bits & 7);
        if (used > 0) {
            bytes[bodyOffset + codesBytes - 1] &= (byte) ((1 << used) - 1);
        }
    }

    private int entryOffset() {
        return ChunkDescriptor.HEADER_BYTES + column * ENTRY_BYTES;
    }

    private void writeEntry(ValueEncoding values, int bits, long base, int bodyBytes) {
        int widthBytes = schema.column(column).type().widthBytes();
        long entry = Memory.BYTES + entryOffset();
        Memory.putInt(bytes, entry, values.ordinal() | bits << 8 | widthBytes << 24);
        Memory.putInt(bytes, entry + EncodedColumnDescriptor.DICTIONARY_SIZE_OFFSET, 0);
        Memory.putInt(bytes, entry + EncodedColumnDescriptor.BODY_OFFSET_OFFSET, bodyOffset);
        Memory.putInt(bytes, entry + EncodedColumnDescriptor.BODY_LENGTH_OFFSET, bodyBytes);
        Memory.putLong(bytes, entry + EncodedColumnDescriptor.BASE_OFFSET, base);
        Memory.putLong(bytes, entry + EncodedColumnDescriptor.RUN_COUNT_OFFSET, 0);
    }

    private void reserve(int bodyBytes) {
        if (column == schema.size()) {
            throw new IllegalStateException(
                    "All columns of the chunk are there: columns=" + schema.size());
        }
        int end = Math.addExact(bodyOffset, bodyBytes);
        if (end > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(end, bytes.length + (bytes.length >> 1)));
        }
    }

    private void next(int bodyBytes) {
        column++;
        bodyOffset += bodyBytes;
    }

    /**
     * Returns the chunk, on the heap.
     *
     * @param isTransient whether the chunk after the next may overwrite it
     * @throws IllegalStateException if a column is missing
     */
    public EncodedChunk seal(
            int dimension, int partition, long epoch, long sequence, boolean isTransient) {
        if (column < schema.size()) {
            throw new IllegalStateException(
                    "Columns of the chunk are missing: added="
                            + column
                            + ", columns="
                            + schema.size());
        }
        ChunkHeader header =
                new ChunkHeader(
                        bodyOffset,
                        rowCount,
                        dimension,
                        ChunkDescriptor.ENCODED,
                        partition,
                        0,
                        epoch,
                        sequence);
        byte[] chunk = takeBytes(isTransient);
        header.writeTo(chunk, Memory.BYTES, schema);
        return ChunkDecoder.opened(schema, header, chunk, Memory.BYTES, null, isTransient);
    }

    /**
     * Returns the bytes of the chunk, and leaves memory of the same length for the next: chunks of
     * equal rows mostly have equal lengths, and are then not copied.
     */
    private byte[] takeBytes(boolean isTransient) {
        boolean isCopied = bytes.length != bodyOffset;
        byte[] chunk = isCopied ? Arrays.copyOf(bytes, bodyOffset) : bytes;
        if (isTransient) {
            bytes = spare;
            spare = chunk;
        } else if (!isCopied) {
            bytes = new byte[bodyOffset];
        }
        return chunk;
    }
}
