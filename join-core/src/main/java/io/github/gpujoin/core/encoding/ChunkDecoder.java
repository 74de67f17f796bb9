// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.encoding;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkChecksum;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkExtents;
import io.github.gpujoin.core.layout.ChunkFormatException;
import io.github.gpujoin.core.layout.ChunkHeader;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.ChunkSlot;
import io.github.gpujoin.core.region.Memory;
import org.jspecify.annotations.Nullable;

/** Reads chunks of every version from a wire or from state. Thread-safe. */
public final class ChunkDecoder {

    /**
     * Longest chunk that is decoded: a few encoded bytes can stand for many rows, so that this
     * bounds what damaged bytes allocate.
     */
    public static final int MAX_DECODED_BYTES = 256 << 20;

    private ChunkDecoder() {}

    /**
     * Returns the chunk that the bytes contain, with plain columns.
     *
     * @param bytes a whole chunk, owned by the chunk from now on
     * @throws ChunkFormatException if a header field, an extent, an encoded column or the checksum
     *     is wrong
     */
    public static Chunk decode(ChunkSchema schema, byte[] bytes) {
        Chunk chunk = open(schema, bytes);
        return chunk instanceof EncodedChunk encoded ? encoded.plain() : chunk;
    }

    /**
     * Returns the chunk that the bytes contain. Its columns stay as they are: if they are encoded,
     * it is an {@link EncodedChunk}.
     *
     * @param bytes a whole chunk, owned by the chunk from now on
     * @throws ChunkFormatException if a header field, an extent, the entry of an encoded column or
     *     the checksum is wrong
     */
    public static Chunk open(ChunkSchema schema, byte[] bytes) {
        if (bytes.length < ChunkDescriptor.HEADER_BYTES || !ChunkHeader.isEncoded(bytes)) {
            return Chunk.wrap(schema, bytes);
        }
        ChunkHeader header = ChunkHeader.read(schema, bytes);
        ChunkChecksum.require(bytes, Memory.BYTES, bytes.length);
        return opened(schema, header, bytes, Memory.BYTES, null, false);
    }

    /**
     * Does the same as {@link #open} for a chunk in a slot that is {@linkplain ChunkSlot#isVerified
     * verified}; its checksum is not verified again.
     *
     * @param slot which the chunk releases with its last user
     * @param lengthBytes of the chunk, at most the capacity of the slot
     * @throws ChunkFormatException if a header field, an extent or the entry of an encoded column
     *     is wrong; the caller still owns the slot
     */
    public static Chunk inSlot(ChunkSchema schema, ChunkSlot slot, int lengthBytes) {
        ChunkHeader header = ChunkHeader.read(schema, null, slot.address(), lengthBytes);
        return header.isEncoded()
                ? opened(schema, header, null, slot.address(), slot, false)
                : Chunk.inSlot(schema, slot, lengthBytes);
    }

    /** Returns an encoded chunk whose checksum is right. */
    static EncodedChunk opened(
            ChunkSchema schema,
            ChunkHeader header,
            byte @Nullable [] bytes,
            long start,
            @Nullable ChunkSlot slot,
            boolean isTransient) {
        EncodedColumn[] columns = columns(schema, header, bytes, start);
        int variableWidth = header.variableWidthOffset();
        int variableWidthBytes = variableWidth == 0 ? 0 : header.lengthBytes() - variableWidth;
        long plainBytes =
                (long) schema.offsets(header.rowCount())[schema.size()] + variableWidthBytes;
        require(
                plainBytes <= MAX_DECODED_BYTES,
                "Decoded chunk exceeds " + MAX_DECODED_BYTES + " bytes: lengthBytes=" + plainBytes,
                "rowCount",
                header.rowCount());
        if (variableWidth > 0) {
            ChunkExtents.checkVariableWidth(schema, header, bytes, start);
        }
        return new EncodedChunk(
                schema, bytes, start, header, slot, columns, (int) plainBytes, isTransient);
    }

    /** Returns the fixed-width columns, which lie one after the other behind their entries. */
    private static @Nullable EncodedColumn[] columns(
            ChunkSchema schema, ChunkHeader header, byte @Nullable [] bytes, long start) {
        int rows = header.rowCount();
        int length = header.lengthBytes();
        int entries = 0;
        for (int column = 0; column < schema.size(); column++) {
            entries += schema.column(column).isFixed() ? 1 : 0;
        }
        int end = ChunkDescriptor.HEADER_BYTES + entries * EncodedColumnDescriptor.ENTRY_BYTES;
        require(rows > 0, "Encoded chunk has no rows", "rowCount", rows);
        require(
                end <= length,
                "Encoded chunk is shorter than the entries of its columns",
                "lengthBytes",
                length);
        EncodedColumn[] columns = new EncodedColumn[schema.size()];
        int entry = ChunkDescriptor.HEADER_BYTES;
        for (int column = 0; column < columns.length; column++) {
            if (schema.column(column).isFixed()) {
                int widthBytes = schema.column(column).type().widthBytes();
                columns[column] =
                        new EncodedColumn(bytes, start, length, entry, end, rows, widthBytes);
                end = columns[column].bodyEnd();
                entry += EncodedColumnDescriptor.ENTRY_BYTES;
            }
        }
        int variableWidth = header.variableWidthOffset();
        int expectedVariableWidth = schema.hasVariableWidth() ? end : 0;
        require(
                variableWidth == expectedVariableWidth,
                "Variable-width section of an encoded chunk does not follow its columns",
                "variableWidthOffset",
                variableWidth);
        require(
                schema.hasVariableWidth() || end == length,
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
