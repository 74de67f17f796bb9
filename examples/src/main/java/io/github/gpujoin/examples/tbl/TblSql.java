// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.tbl;

import java.nio.file.Path;
import java.util.stream.Collectors;

/** Tables of {@code .tbl} files in DuckDB's SQL, with whose answers those of jobs are compared. */
public final class TblSql {

    private TblSql() {}

    /**
     * A query of all rows and columns of a table.
     *
     * @param trailingBar whether lines have a bar after their last field, as generators write them
     */
    public static String select(TblTable table, Path directory, boolean trailingBar) {
        String values =
                table.columns().stream().map(TblSql::value).collect(Collectors.joining(", "));
        String fields =
                table.columns().stream()
                        .map(column -> "'" + column.name() + "': '" + type(column) + "'")
                        .collect(Collectors.joining(", "));
        return "select "
                + values
                + " from read_csv('"
                + directory.resolve(table.fileName())
                + "', delim = '|', header = false, auto_detect = false, quote = '', escape = '',"
                + " columns = {"
                + fields
                + (trailingBar ? ", 'bar': 'varchar'" : "")
                + "})";
    }

    private static String type(TblColumn column) {
        return switch (column.type()) {
            case INT32 -> "integer";
            case INT64 -> "bigint";
            case HUNDREDTHS -> "decimal(18, 2)";
            case DATE -> "date";
            case TEXT -> "varchar";
        };
    }

    /** An empty field is null to DuckDB, and to us where the column says so. */
    private static String value(TblColumn column) {
        boolean emptyText = !column.nullable() && column.type() == TblType.TEXT;
        return emptyText
                ? "coalesce(" + column.name() + ", '') as " + column.name()
                : column.name();
    }
}
