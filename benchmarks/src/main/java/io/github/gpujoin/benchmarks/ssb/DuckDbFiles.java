// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.ssb;

import io.github.gpujoin.examples.data.SsbTables;
import io.github.gpujoin.examples.query.Query;
import io.github.gpujoin.examples.tbl.TblSql;
import io.github.gpujoin.examples.tbl.TblTable;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** DuckDB in this process, which reads the files in each query. Nothing is loaded beforehand. */
final class DuckDbFiles implements SsbContender, AutoCloseable {

    private final Connection connection;

    /**
     * Opens a database in memory.
     *
     * @param threads of a query
     */
    DuckDbFiles(int threads) throws SQLException {
        connection = DriverManager.getConnection("jdbc:duckdb:");
        execute("set threads = " + threads);
        execute("set autoinstall_known_extensions = false");
    }

    @Override
    public String name() {
        return "duckdb";
    }

    @Override
    public @Nullable String obstacle(SsbFiles files) {
        String extension =
                switch (files.formatName()) {
                    case "avro" -> "avro";
                    case "arrow" -> "nanoarrow";
                    default -> null;
                };
        if (extension == null) {
            return null;
        }
        try {
            execute("load " + extension);
            return null;
        } catch (SQLException e) {
            return "DuckDB's extension '" + extension + "' is not installed";
        }
    }

    @Override
    public List<String> answer(Query query, SsbFiles files) throws SQLException {
        for (TblTable table : SsbTables.ALL) {
            execute("create or replace view " + table.name() + " as " + select(table, files));
        }
        return rows(query.sql());
    }

    /** Returns the number of rows of a table. */
    long count(TblTable table, SsbFiles files) throws SQLException {
        return Long.parseLong(rows("select count(*) from (" + select(table, files) + ")").get(0));
    }

    private static String select(TblTable table, SsbFiles files) {
        String format = files.formatName();
        return switch (format) {
            case "tbl" -> TblSql.select(table, files.directory(), true);
            case "csv" -> TblSql.selectCsv(table, files.file(table));
            default ->
                    "select * from read_%s('%s')"
                            .formatted(format, files.file(table).toString().replace("'", "''"));
        };
    }

    private List<String> rows(String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery(sql)) {
            int columns = result.getMetaData().getColumnCount();
            List<List<Object>> rows = new ArrayList<>();
            while (result.next()) {
                List<Object> row = new ArrayList<>();
                for (int i = 1; i <= columns; i++) {
                    row.add(result.getObject(i));
                }
                rows.add(row);
            }
            return SsbContender.sorted(rows.stream());
        }
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
