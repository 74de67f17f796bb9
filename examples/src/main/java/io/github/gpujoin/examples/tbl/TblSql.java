// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.tbl;

import java.nio.file.Path;
import java.util.stream.Collectors;

/** Writes DuckDB queries of {@code .tbl} files. Tests compare the results of jobs with DuckDB's. */
public final class TblSql {

    private TblSql() {}

    /**
     * Returns a query of all rows and columns of a table, in DuckDB's SQL.
     *
     * @param directory of the {@code .tbl} files
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
                + directory.resolve(table.fileName()).toString().replace("'", "''")
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

    /** DuckDB reads an empty field as null; a text column that is not nullable has empty text. */
    private static String value(TblColumn column) {
        boolean emptyText = !column.nullable() && column.type() == TblType.TEXT;
        return emptyText
                ? "coalesce(" + column.name() + ", '') as " + column.name()
                : column.name();
    }
}
