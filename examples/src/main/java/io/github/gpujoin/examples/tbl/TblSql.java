// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.tbl;

import java.nio.file.Path;
import java.util.stream.Collectors;

/** Writes DuckDB queries of files, whose results those of jobs are compared with. */
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
        return "select "
                + values
                + " from read_csv('"
                + escaped(directory.resolve(table.fileName()))
                + "', delim = '|', header = false, auto_detect = false, quote = '', escape = '',"
                + " columns = {"
                + fields(table)
                + (trailingBar ? ", 'bar': 'varchar'" : "")
                + "})";
    }

    /** Returns a query of all rows and columns of a CSV file whose first line has the names. */
    public static String selectCsv(TblTable table, Path file) {
        return "select * from read_csv('"
                + escaped(file)
                + "', header = true, auto_detect = false, columns = {"
                + fields(table)
                + "})";
    }

    private static String escaped(Path file) {
        return file.toString().replace("'", "''");
    }

    private static String fields(TblTable table) {
        return table.columns().stream()
                .map(column -> "'" + column.name() + "': '" + type(column) + "'")
                .collect(Collectors.joining(", "));
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
