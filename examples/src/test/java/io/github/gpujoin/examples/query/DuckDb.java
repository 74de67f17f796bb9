// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.query;

import io.github.gpujoin.examples.tbl.TblSql;
import io.github.gpujoin.examples.tbl.TblTable;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** DuckDB over {@code .tbl} files: the oracle of the queries. */
final class DuckDb implements AutoCloseable {

    private final Connection connection;

    DuckDb() throws SQLException {
        connection = DriverManager.getConnection("jdbc:duckdb:");
        execute("set threads = 2");
        execute("set memory_limit = '1GB'");
    }

    /**
     * Loads a table from its file.
     *
     * @param trailingBar whether lines have a bar after their last field
     */
    void load(TblTable table, Path directory, boolean trailingBar) throws SQLException {
        execute(
                "create table "
                        + table.name()
                        + " as "
                        + TblSql.select(table, directory, trailingBar));
    }

    /** Rows of the answer as text, in order; null stays null. */
    List<List<String>> query(String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery(sql)) {
            int columns = result.getMetaData().getColumnCount();
            List<List<String>> rows = new ArrayList<>();
            while (result.next()) {
                List<String> row = new ArrayList<>();
                for (int i = 1; i <= columns; i++) {
                    row.add(text(result.getObject(i)));
                }
                rows.add(row);
            }
            return rows;
        }
    }

    private static String text(Object value) {
        if (value == null) {
            return null;
        }
        return value instanceof BigDecimal decimal ? decimal.toPlainString() : value.toString();
    }

    private void execute(String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    @Override
    public void close() throws SQLException {
        connection.close();
    }
}
