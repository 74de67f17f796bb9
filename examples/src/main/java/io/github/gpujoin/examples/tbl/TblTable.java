// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.tbl;

import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.formats.text.TextColumn;
import io.github.gpujoin.formats.text.TextFormat;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A table as it lies in a {@code .tbl} file: all its columns, in the order of the file. Immutable.
 *
 * @param name of the table; the file is called {@code name.tbl}
 */
public record TblTable(String name, List<TblColumn> columns) implements Serializable {

    public TblTable {
        columns = List.copyOf(columns);
    }

    public static TblTable of(String name, TblColumn... columns) {
        return new TblTable(name, List.of(columns));
    }

    public String fileName() {
        return name + ".tbl";
    }

    /**
     * Schema of chunks that hold these columns, in the order of the file whatever the order of the
     * names.
     *
     * @throws IllegalArgumentException where the table has no such column
     */
    public ChunkSchema project(String... names) {
        Set<String> wanted = Set.of(names);
        List<Column> projected = new ArrayList<>();
        for (TblColumn column : columns) {
            if (wanted.contains(column.name())) {
                projected.add(column.chunkColumn());
            }
        }
        if (projected.size() != wanted.size()) {
            Set<String> columnNames =
                    columns.stream().map(TblColumn::name).collect(Collectors.toSet());
            throw new IllegalArgumentException(
                    "Table '%s' lacks columns: missing=%s. Use some of %s."
                            .formatted(
                                    name,
                                    wanted.stream()
                                            .filter(n -> !columnNames.contains(n))
                                            .sorted()
                                            .toList(),
                                    columns.stream().map(TblColumn::name).toList()));
        }
        return ChunkSchema.of(projected);
    }

    /**
     * Returns the format of the table's file.
     *
     * @param schema a projection of the table
     */
    public TextFormat format(ChunkSchema schema) {
        return TextFormat.tbl(textColumns()).select(names(schema));
    }

    /**
     * Returns the format of the table as CSV with a header.
     *
     * @param schema a projection of the table
     */
    public TextFormat csvFormat(ChunkSchema schema) {
        return TextFormat.csv(textColumns()).select(names(schema));
    }

    private TextColumn[] textColumns() {
        return columns.stream().map(TblColumn::textColumn).toArray(TextColumn[]::new);
    }

    private static String[] names(ChunkSchema schema) {
        return schema.columns().stream().map(Column::name).toArray(String[]::new);
    }

    /** Schema of chunks that hold all columns. */
    public ChunkSchema projectAll() {
        return ChunkSchema.of(columns.stream().map(TblColumn::chunkColumn).toList());
    }
}
