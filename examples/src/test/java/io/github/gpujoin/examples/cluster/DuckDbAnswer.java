package io.github.gpujoin.examples.cluster;

import io.github.gpujoin.examples.data.Benchmark;
import io.github.gpujoin.examples.query.Queries;
import io.github.gpujoin.examples.query.Query;
import io.github.gpujoin.examples.tbl.TblColumn;
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
import java.util.stream.Collectors;

/** DuckDB's answer to a query of the star schema benchmark, as the lines of a CSV file. */
final class DuckDbAnswer {

    private DuckDbAnswer() {}

    /** Header line and rows in the query's order; for results without text that needs quotes. */
    static List<String> toQuery(String name, Path data) throws SQLException {
        Query query = Queries.named(name).get(0);
        try (Connection connection = DriverManager.getConnection("jdbc:duckdb:");
                Statement statement = connection.createStatement()) {
            for (TblTable table : Benchmark.SSB.tables()) {
                statement.execute(view(table, data.resolve(table.fileName())));
            }
            try (ResultSet rows = statement.executeQuery(query.sql())) {
                return lines(rows);
            }
        }
    }

    /** The generator ends each line with a bar, which is one more, empty column. */
    private static String view(TblTable table, Path file) {
        String columns =
                table.columns().stream()
                        .map(column -> "'%s': '%s'".formatted(column.name(), sqlType(column)))
                        .collect(Collectors.joining(", "));
        return "create view %s as select * exclude (bar) from read_csv('%s', delim='|', quote='',"
                .formatted(table.name(), file)
                .concat(" header=false, columns={%s, 'bar': 'varchar'})".formatted(columns));
    }

    private static String sqlType(TblColumn column) {
        return switch (column.type()) {
            case INT32 -> "integer";
            case INT64 -> "bigint";
            case TEXT -> "varchar";
            case HUNDREDTHS, DATE ->
                    throw new IllegalArgumentException(
                            "no such column in the benchmark: column=" + column.name());
        };
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
