// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.engine;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.region.Memory;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Replaces text columns of a dimension's chunks by codes of a dictionary. Thread-safe. */
final class ChunkCoder {

    private final ChunkSchema texts;
    private final ChunkSchema codes;
    private final TextDictionary dictionary;

    /**
     * @param texts schema of the chunks
     * @param codes the same columns, with fixed-width INT32 columns for the texts to replace
     */
    ChunkCoder(ChunkSchema texts, ChunkSchema codes, TextDictionary dictionary) {
        this.texts = texts;
        this.codes = codes;
        this.dictionary = dictionary;
    }

    /** Returns the same rows with codes, under the same header fields. */
    Chunk encode(Chunk chunk) {
        long rowBytes = codes.fixedRowBytes() + 8L * codes.variableWidthColumnCount();
        // A builder of exactly these rows does not copy them when it is sealed.
        int bytes = Math.toIntExact(rowBytes * Math.max(1, chunk.rowCount()));
        ChunkBuilder builder = new ChunkBuilder(codes, bytes);
        for (int row = 0; row < chunk.rowCount(); row++) {
            addRow(chunk, row, builder);
        }
        return chunk.hasManyPartitions()
                ? builder.sealMany(
                        chunk.dimension(), chunk.partition(), chunk.epoch(), chunk.sequence())
                : builder.seal(
                        chunk.dimension(), chunk.partition(), chunk.epoch(), chunk.sequence());
    }

    private void addRow(Chunk chunk, int row, ChunkBuilder builder) {
        byte[] array = chunk.array();
        long at = chunk.variableWidthStart(row);
        for (int c = 0; c < texts.size(); c++) {
            if (texts.column(c).isFixed()) {
                putFixed(chunk, row, c, builder);
                continue;
            }
            int length = Memory.getInt(array, at);
            long end = at + Integer.BYTES + Math.max(0, length);
            if (codes.column(c).isFixed()) {
                builder.putInt(c, dictionary.code(text(array, at + Integer.BYTES, length)));
            } else {
                builder.addVariableWidthRow(array, at, end);
            }
            at = end;
        }
        builder.endRow();
    }

    private void putFixed(Chunk chunk, int row, int column, ChunkBuilder builder) {
        long start = chunk.columnStart(column);
        int widthBytes = texts.column(column).type().widthBytes();
        long at = start + (long) widthBytes * row;
        builder.putInteger(column, Memory.getInteger(chunk.array(), at, widthBytes));
    }

    /**
     * @param length negative for null
     */
    private static @Nullable String text(byte[] array, long at, int length) {
        return length < 0
                ? null
                : new String(array, (int) (at - Memory.BYTES), length, StandardCharsets.UTF_8);
    }
}
