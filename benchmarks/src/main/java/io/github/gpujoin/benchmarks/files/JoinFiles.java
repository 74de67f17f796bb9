// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.files;

import io.github.gpujoin.benchmarks.workload.JoinAnswer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * Two Parquet files of a star schema and the file of their join. Customers have unique keys in
 * order; each sale has one customer. DuckDB generates the files, with a row group for each 122,880
 * rows and Snappy, its defaults.
 *
 * @param directory of all files
 * @param buildRows rows of customers
 * @param probeRows rows of sales
 */
public record JoinFiles(Path directory, long buildRows, long probeRows, int threads) {

    public static final String BUILD_KEY = "id";
    public static final String PROBE_KEY = "customer_id";

    private static final String CUSTOMERS =
            "select i::bigint as id, (hash(i * 7 + 1) %% 100000)::integer as segment,"
                    + " (hash(i * 3 + 2) %% 1000000007)::bigint as balance from range(%d) t(i)";

    private static final String SALES =
            "select (hash(i) %% %d)::bigint as customer_id, (hash(i * 5 + 3) %% 2500)::integer as day,"
                    + " (hash(i * 11 + 4) %% 1000000)::bigint as price from range(%d) t(i)";

    /** Adds up hashes of whole rows, so that the order of rows does not matter. */
    private static final String ANSWER =
            "select count(*), (sum(hash(customer_id, day, price, id, segment, balance))"
                    + " %% 9223372036854775807)::bigint from (%s)";

    public Path build() {
        return directory.resolve("customers-%d.parquet".formatted(buildRows));
    }

    public Path probe() {
        return directory.resolve("sales-%d-%d.parquet".formatted(buildRows, probeRows));
    }

    /** Returns where a contender writes the join. */
    Path result(String contender) {
        return directory.resolve("result-%s.parquet".formatted(contender));
    }

    /** Generates the files that are missing. A file appears under its name when it is complete. */
    public void make() throws IOException, SQLException {
        Files.createDirectories(directory);
        make(build(), CUSTOMERS.formatted(buildRows));
        make(probe(), SALES.formatted(buildRows, probeRows));
    }

    private void make(Path file, String sql) throws IOException, SQLException {
        if (Files.exists(file)) {
            return;
        }
        Path draft = file.resolveSibling(file.getFileName() + ".draft");
        copy(sql, draft);
        Files.move(draft, file, StandardCopyOption.REPLACE_EXISTING);
    }

    /** Returns the query of the join. */
    String sql() {
        return "from '%s' p join '%s' b on p.%s = b.%s"
                .formatted(probe(), build(), PROBE_KEY, BUILD_KEY);
    }

    /** Writes the rows of a query to a file with DuckDB, in any order. */
    void copy(String sql, Path to) throws SQLException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            statement.execute("copy (%s) to '%s' (format parquet)".formatted(sql, to));
        }
    }

    /** Computes the answer from the two files, without writing their join. */
    JoinAnswer expected() throws SQLException {
        return answer(sql());
    }

    /** Reads the answer of a contender from its file. */
    JoinAnswer answerIn(Path file) throws SQLException {
        return answer("from '%s'".formatted(file));
    }

    private JoinAnswer answer(String sql) throws SQLException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(ANSWER.formatted(sql))) {
            row.next();
            return new JoinAnswer(row.getLong(1), row.getLong(2));
        }
    }

    private Connection connect() throws SQLException {
        Connection connection = DriverManager.getConnection("jdbc:duckdb:");
        try (Statement statement = connection.createStatement()) {
            statement.execute("set threads = " + threads);
            statement.execute("set preserve_insertion_order = false");
        }
        return connection;
    }
}
