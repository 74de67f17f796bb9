// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.encoding;

import io.github.gpujoin.core.encoding.ChunkDecoder;
import io.github.gpujoin.core.encoding.ChunkEncoder;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.examples.tbl.TblTable;
import io.github.gpujoin.flink.api.source.ColumnarPosition;
import io.github.gpujoin.flink.api.source.ColumnarReader;
import io.github.gpujoin.flink.api.source.ColumnarSplit;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Bytes of the chunks of a table, or of one of its columns.
 *
 * @param column name of the column, or {@code (fixed width)} or {@code (all)}
 * @param plain bytes of the chunks with plain columns, headers included
 * @param encoded bytes of the chunks as they are sent or stored
 */
public record TableBytes(String table, String column, long rows, long plain, long encoded) {

    private static final String FIXED_WIDTH = "(fixed width)";

    private static final String ALL = "(all)";

    /** Returns plain bytes divided by encoded bytes. */
    public double ratio() {
        return (double) plain / encoded;
    }

    /**
     * Measures each fixed-width column of a table, all of them together, and all columns. Every
     * encoded chunk is decoded again and compared.
     *
     * @param directory folder with the file of the table
     * @throws IOException if the file cannot be read
     * @throws IllegalStateException if a decoded chunk differs
     */
    public static List<TableBytes> of(TblTable table, Path directory) throws IOException {
        List<TableBytes> measured = new ArrayList<>();
        List<String> fixed =
                table.projectAll().columns().stream()
                        .filter(Column::isFixed)
                        .map(Column::name)
                        .toList();
        for (String column : fixed) {
            measured.add(of(table, directory, column, table.project(column)));
        }
        if (!fixed.isEmpty()) {
            ChunkSchema schema = table.project(fixed.toArray(String[]::new));
            measured.add(of(table, directory, FIXED_WIDTH, schema));
        }
        measured.add(of(table, directory, ALL, table.projectAll()));
        return measured;
    }

    private static TableBytes of(TblTable table, Path directory, String column, ChunkSchema schema)
            throws IOException {
        Path file = directory.resolve(table.fileName());
        long length = Files.size(file);
        ColumnarSplit all =
                new ColumnarSplit(
                        new org.apache.flink.core.fs.Path(file.toUri()), 0, length, length);
        ChunkEncoder encoder = new ChunkEncoder();
        long rows = 0;
        long plain = 0;
        long encoded = 0;
        try (ColumnarReader reader = table.format(schema).open(all, ColumnarPosition.START)) {
            for (Chunk chunk = reader.read(); chunk != null; chunk = reader.read()) {
                byte[] bytes = encoder.encode(chunk);
                rows += chunk.rowCount();
                plain += chunk.lengthBytes();
                encoded += bytes.length;
                requireEqual(table, schema, chunk, bytes);
            }
        }
        return new TableBytes(table.name(), column, rows, plain, encoded);
    }

    private static void requireEqual(
            TblTable table, ChunkSchema schema, Chunk chunk, byte[] encoded) {
        byte[] decoded = ChunkDecoder.decode(schema, encoded.clone()).bytes();
        if (!Arrays.equals(decoded, chunk.bytes())) {
            throw new IllegalStateException(
                    "Decoded chunk differs: table=%s, sequence=%d, rows=%d."
                            .formatted(table.name(), chunk.sequence(), chunk.rowCount()));
        }
    }
}
