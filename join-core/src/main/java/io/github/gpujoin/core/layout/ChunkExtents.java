// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.layout;

import static io.github.gpujoin.core.layout.ChunkDescriptor.NULL_LENGTH;
import static io.github.gpujoin.core.layout.ChunkHeader.require;

import io.github.gpujoin.core.region.Memory;
import org.jspecify.annotations.Nullable;

/** Checks that all values of a chunk are inside it. */
public final class ChunkExtents {

    private ChunkExtents() {}

    /**
     * Checks the extents of all columns and variable-width values.
     *
     * @param base byte array, or null for native memory, as in {@link Memory}
     * @param start offset of the chunk
     * @return the offsets of the columns, as {@link ChunkSchema#offsets}
     * @throws ChunkFormatException if an extent is outside the chunk, or columns are encoded
     */
    static int[] check(ChunkSchema schema, ChunkHeader header, byte @Nullable [] base, long start) {
        require(
                !header.isEncoded(),
                "Chunk has encoded columns, which a ChunkDecoder reads",
                "flags",
                header.flags());
        int length = header.lengthBytes();
        int rows = header.rowCount();
        require(rows >= 0, "Chunk has a negative row count", "rowCount", rows);
        int[] offsets = schema.offsets(rows);
        int fixedEnd = offsets[schema.size()];
        int variableWidth = header.variableWidthOffset();
        if (schema.hasVariableWidth()) {
            require(
                    variableWidth == fixedEnd,
                    "Variable-width section of the chunk does not follow its columns",
                    "variableWidthOffset",
                    variableWidth);
            checkVariableWidth(schema, header, base, start);
        } else {
            require(
                    variableWidth == 0,
                    "Chunk has a variable-width section, but its schema has no such column",
                    "variableWidthOffset",
                    variableWidth);
            require(fixedEnd == length, "Columns do not fill the chunk", "rowCount", rows);
        }
        return offsets;
    }

    /**
     * Checks every variable-width value once, so that cursors need no checks. The section starts
     * inside the chunk.
     *
     * @param base byte array, or null for native memory, as in {@link Memory}
     * @param start offset of the chunk
     * @throws ChunkFormatException if a value is outside the chunk
     */
    public static void checkVariableWidth(
            ChunkSchema schema, ChunkHeader header, byte @Nullable [] base, long start) {
        int[] widths = schema.variableWidthValueBytes();
        int rows = header.rowCount();
        require(
                header.variableWidthOffset() + 4L * rows <= header.lengthBytes(),
                "Index of variable-width values ends outside the chunk",
                "rowCount",
                rows);
        long index = start + header.variableWidthOffset();
        int dataOffset = header.variableWidthOffset() + 4 * rows;
        long data = start + dataOffset;
        int room = header.lengthBytes() - dataOffset;
        int end = 0;
        for (int row = 0; row < rows; row++) {
            int at = end;
            end = Memory.getInt(base, index + 4L * row);
            if (end < 0 || end > room) {
                throw rowOutside(row, end, room);
            }
            for (int width : widths) {
                int length = end - at < 4 ? Integer.MAX_VALUE : Memory.getInt(base, data + at);
                boolean isNull = length == NULL_LENGTH;
                boolean fits = width == 0 ? length >= 0 : length == width;
                int valueBytes = isNull ? 0 : length;
                if (!(isNull || fits) || valueBytes > end - at - 4) {
                    throw valueOutside(row, end - at, length);
                }
                at += 4 + valueBytes;
            }
            if (at != end) {
                throw rowOutside(row, end, room);
            }
        }
        require(
                ChunkDescriptor.alignChunk(dataOffset + end) == header.lengthBytes(),
                "Variable-width values do not fill the chunk",
                "end",
                end);
    }

    private static ChunkFormatException rowOutside(int row, int end, int room) {
        return new ChunkFormatException(
                "Variable-width values of a row do not match the ends in the index: row="
                        + row
                        + ", end="
                        + end
                        + ", room="
                        + room);
    }

    private static ChunkFormatException valueOutside(int row, int room, int length) {
        return new ChunkFormatException(
                "Variable-width value has a wrong length or ends outside its row: row="
                        + row
                        + ", room="
                        + room
                        + ", valueLength="
                        + length);
    }
}
