// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.cluster;

import io.github.gpujoin.examples.data.Benchmark;
import io.github.gpujoin.examples.query.Queries;
import io.github.gpujoin.examples.query.Query;
import io.github.gpujoin.examples.tbl.TblSql;
import io.github.gpujoin.examples.tbl.TblTable;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** DuckDB's answer to a query of the star schema benchmark, as the lines of a CSV file. */
final class DuckDbAnswer {

    private DuckDbAnswer() {}

    /** Header line and rows in the query's order; for results without text that needs quotes. */
    static List<String> toQuery(String name, Path data) throws SQLException {
        Query query = Queries.named(name).get(0);
        try (Connection connection = DriverManager.getConnection("jdbc:duckdb:");
                Statement statement = connection.createStatement()) {
            for (TblTable table : Benchmark.SSB.tables()) {
                statement.execute(
                        "create view " + table.name() + " as " + TblSql.select(table, data, true));
            }
            try (ResultSet rows = statement.executeQuery(query.sql())) {
                return lines(rows);
            }
        }
    }

    private static List<String> lines(ResultSet rows) throws SQLException {
        ResultSetMetaData meta = rows.getMetaData();
        List<String> lines = new ArrayList<>();
        List<String> fields = new ArrayList<>();
        for (int i = 1; i <= meta.getColumnCount(); i++) {
            fields.add(meta.getColumnLabel(i));
        }
        lines.add(String.join(",", fields));
        while (rows.next()) {
            fields.clear();
            for (int i = 1; i <= meta.getColumnCount(); i++) {
                fields.add(rows.getString(i));
            }
            lines.add(String.join(",", fields));
        }
        return lines;
    }
}
