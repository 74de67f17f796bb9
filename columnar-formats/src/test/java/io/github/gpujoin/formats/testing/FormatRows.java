// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.testing;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkCursor;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.flink.api.source.ColumnarFormat;
import io.github.gpujoin.flink.api.source.ColumnarPosition;
import io.github.gpujoin.flink.api.source.ColumnarReader;
import io.github.gpujoin.flink.api.source.ColumnarSplit;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** Rows of files as lists: Long for integers, Double for floats, String for text and bytes. */
public final class FormatRows {

    private FormatRows() {}

    public static ColumnarSplit split(Path file, long offset, long length) throws IOException {
        return new ColumnarSplit(
                new org.apache.flink.core.fs.Path(file.toUri()), offset, length, Files.size(file));
    }

    public static ColumnarSplit whole(Path file) throws IOException {
        return split(file, 0, Files.size(file));
    }

    public static List<List<@Nullable Object>> read(ColumnarFormat format, Path file)
            throws IOException {
        return read(format, whole(file), ColumnarPosition.START);
    }

    public static List<List<@Nullable Object>> read(
            ColumnarFormat format, ColumnarSplit split, ColumnarPosition from) throws IOException {
        List<List<@Nullable Object>> rows = new ArrayList<>();
        try (ColumnarReader reader = format.open(split, from)) {
            for (Chunk chunk = reader.read(); chunk != null; chunk = reader.read()) {
                addRows(chunk, rows);
            }
        }
        return rows;
    }

    /** Reads a file in random splits, each by several readers that start where one has stopped. */
    public static List<List<@Nullable Object>> readInPieces(
            ColumnarFormat format, Path file, Random random) throws IOException {
        List<List<@Nullable Object>> rows = new ArrayList<>();
        long end = Files.size(file);
        for (long offset = 0; offset < end; ) {
            long length = end - offset;
            if (format.isSplittable()) {
                length = Math.min(length, 1 + random.nextLong(Math.max(1, end / 3)));
            }
            ColumnarSplit split = split(file, offset, length);
            ColumnarPosition from = ColumnarPosition.START;
            int before;
            do {
                before = rows.size();
                from = readSome(format, split, from, random, rows);
            } while (rows.size() > before);
            offset += length;
        }
        return rows;
    }

    private static ColumnarPosition readSome(
            ColumnarFormat format,
            ColumnarSplit split,
            ColumnarPosition from,
            Random random,
            List<List<@Nullable Object>> rows)
            throws IOException {
        ColumnarPosition position = from;
        try (ColumnarReader reader = format.open(split, from)) {
            for (int left = 1 + random.nextInt(3); left > 0; left--) {
                Chunk chunk = reader.read();
                if (chunk != null) {
                    addRows(chunk, rows);
                    position = reader.position();
                }
            }
        }
        return position;
    }

    public static void addRows(Chunk chunk, List<List<@Nullable Object>> rows) {
        chunk.verify();
        ChunkCursor cursor = new ChunkCursor(chunk.schema());
        for (int row = 0; row < chunk.rowCount(); row++) {
            cursor.at(chunk, row);
            List<@Nullable Object> values = new ArrayList<>();
            for (int i = 0; i < chunk.schema().size(); i++) {
                values.add(value(cursor, i, chunk.schema().column(i)));
            }
            rows.add(values);
        }
    }

    private static @Nullable Object value(ChunkCursor cursor, int i, Column column) {
        if (cursor.isNull(i)) {
            return null;
        }
        return switch (column.type()) {
            case INT8, INT16, INT32, INT64 -> cursor.getLong(i);
            case FLOAT32, FLOAT64 -> cursor.getDouble(i);
            case STRING -> cursor.getString(i);
            case BYTES -> new String(cursor.getBytes(i), StandardCharsets.ISO_8859_1);
        };
    }
}
