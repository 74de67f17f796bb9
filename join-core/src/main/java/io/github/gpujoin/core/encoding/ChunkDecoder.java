// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.encoding;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkChecksum;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkFormatException;
import io.github.gpujoin.core.layout.ChunkHeader;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.region.Memory;
import org.jspecify.annotations.Nullable;

/** Reads chunks of every version from a wire or from state. Thread-safe. */
public final class ChunkDecoder {

    /**
     * Longest chunk that is decoded: a few encoded bytes can stand for many rows, so that this
     * bounds what damaged bytes allocate.
     */
    public static final int MAX_DECODED_BYTES = 256 << 20;

    private static final ThreadLocal<TileScratch> SCRATCH =
            ThreadLocal.withInitial(TileScratch::new);

    private ChunkDecoder() {}

    /**
     * Returns the chunk that the bytes contain, with plain columns.
     *
     * @param bytes a whole chunk, owned by the chunk from now on
     * @throws ChunkFormatException if a header field, an extent, an encoded column or the checksum
     *     is wrong
     */
    public static Chunk decode(ChunkSchema schema, byte[] bytes) {
        if (bytes.length < ChunkDescriptor.HEADER_BYTES || !ChunkHeader.isEncoded(bytes)) {
            return Chunk.wrap(schema, bytes);
        }
        ChunkHeader header = ChunkHeader.read(schema, bytes);
        long expected = Memory.getLong(bytes, Memory.BYTES + ChunkDescriptor.CHECKSUM_OFFSET);
        long actual = ChunkChecksum.of(bytes, Memory.BYTES, bytes.length);
        if (expected != actual) {
            throw new ChunkFormatException(
                    "Chunk checksum does not match its bytes: checksum=" + actual);
        }
        return Chunk.unverified(schema, plainBytes(schema, header, bytes));
    }

    private static byte[] plainBytes(ChunkSchema schema, ChunkHeader header, byte[] bytes) {
        int rows = header.rowCount();
        int variableWidth = header.variableWidthOffset();
        EncodedColumn[] columns = columns(schema, bytes, rows, variableWidth);
        int variableWidthBytes = variableWidth == 0 ? 0 : bytes.length - variableWidth;
        int[] offsets = schema.offsets(rows);
        int fixedEnd = offsets[schema.size()];
        long length = (long) fixedEnd + variableWidthBytes;
        if (length > MAX_DECODED_BYTES) {
            throw new ChunkFormatException(
                    "Decoded chunk exceeds "
                            + MAX_DECODED_BYTES
                            + " bytes: lengthBytes="
                            + length
                            + ", rowCount="
                            + rows);
        }
        byte[] plain = new byte[(int) length];
        System.arraycopy(bytes, 0, plain, 0, ChunkDescriptor.HEADER_BYTES);
        TileScratch scratch = SCRATCH.get();
        for (int column = 0; column < columns.length; column++) {
            if (columns[column] != null) {
                columns[column].decode(plain, Memory.BYTES + offsets[column], scratch);
            }
        }
        if (variableWidth > 0) {
            System.arraycopy(bytes, variableWidth, plain, fixedEnd, variableWidthBytes);
            long at = Memory.BYTES + ChunkDescriptor.VARIABLE_WIDTH_OFFSET;
            Memory.putInt(plain, at, fixedEnd);
        }
        writePlainHeader(plain);
        return plain;
    }

    private static void writePlainHeader(byte[] plain) {
        long header = Memory.BYTES;
        int flags =
                Memory.getShort(plain, header + ChunkDescriptor.FLAGS_OFFSET)
                        & ~ChunkDescriptor.ENCODED;
        int version = flags == 0 ? ChunkDescriptor.VERSION : ChunkDescriptor.VERSION_WITH_FLAGS;
        Memory.putShort(plain, header + ChunkDescriptor.VERSION_OFFSET, (short) version);
        Memory.putShort(plain, header + ChunkDescriptor.FLAGS_OFFSET, (short) flags);
        Memory.putInt(plain, header + ChunkDescriptor.LENGTH_OFFSET, plain.length);
        // Chunk.bytes() computes it.
        Memory.putLong(plain, header + ChunkDescriptor.CHECKSUM_OFFSET, 0);
    }

    /** Returns the fixed-width columns, which lie one after the other behind their entries. */
    private static @Nullable EncodedColumn[] columns(
            ChunkSchema schema, byte[] bytes, int rows, int variableWidth) {
        int entries = 0;
        for (int column = 0; column < schema.size(); column++) {
            entries += schema.column(column).isFixed() ? 1 : 0;
        }
        int end = ChunkDescriptor.HEADER_BYTES + entries * EncodedColumnDescriptor.ENTRY_BYTES;
        require(rows > 0, "Encoded chunk has no rows", "rowCount", rows);
        require(
                end <= bytes.length,
                "Encoded chunk is shorter than the entries of its columns",
                "lengthBytes",
                bytes.length);
        EncodedColumn[] columns = new EncodedColumn[schema.size()];
        int entry = ChunkDescriptor.HEADER_BYTES;
        for (int column = 0; column < columns.length; column++) {
            if (schema.column(column).isFixed()) {
                int widthBytes = schema.column(column).type().widthBytes();
                columns[column] = new EncodedColumn(bytes, entry, end, rows, widthBytes);
                end = columns[column].bodyEnd();
                entry += EncodedColumnDescriptor.ENTRY_BYTES;
            }
        }
        int expectedVariableWidth = schema.hasVariableWidth() ? end : 0;
        require(
                variableWidth == expectedVariableWidth,
                "Variable-width section of an encoded chunk does not follow its columns",
                "variableWidthOffset",
                variableWidth);
        require(
                schema.hasVariableWidth() || end == bytes.length,
                "Encoded columns do not fill the chunk",
                "end",
                end);
        return columns;
    }

    private static void require(boolean holds, String fault, String name, long value) {
        if (!holds) {
            throw new ChunkFormatException(fault + ": " + name + "=" + value);
        }
    }
}
