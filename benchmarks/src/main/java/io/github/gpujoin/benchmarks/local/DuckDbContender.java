// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.local;

import io.github.gpujoin.benchmarks.join.Contender;
import io.github.gpujoin.benchmarks.join.Measurement;
import io.github.gpujoin.benchmarks.join.TextReport;
import io.github.gpujoin.benchmarks.workload.JoinAnswer;
import io.github.gpujoin.benchmarks.workload.TupleSchemas;
import io.github.gpujoin.benchmarks.workload.Tuples;
import io.github.gpujoin.core.layout.Chunk;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import org.duckdb.DuckDBAppender;
import org.duckdb.DuckDBConnection;

/**
 * DuckDB in this process, on tables in memory that were loaded beforehand. The time is that of the
 * whole query, so the rate includes the building of its hash table.
 */
public final class DuckDbContender implements Contender {

    private final Tuples tuples;
    private final BulkQuery query;
    private final DuckDBConnection connection;
    private JoinAnswer expected = JoinAnswer.NOTHING;

    /** Adds up the payloads of all pairs. */
    public DuckDbContender(Tuples tuples, int threads) throws SQLException {
        this(tuples, threads, BulkQuery.SUMS);
    }

    public DuckDbContender(Tuples tuples, int threads, BulkQuery query) throws SQLException {
        this.tuples = tuples;
        this.query = query;
        this.connection =
                DriverManager.getConnection("jdbc:duckdb:").unwrap(DuckDBConnection.class);
        execute("SET threads TO " + threads);
    }

    @Override
    public String name() {
        return TextReport.DUCKDB;
    }

    @Override
    public void prepare() throws SQLException {
        expected = query.expected(tuples);
        load("build", TupleSchemas.BUILD_KEY, TupleSchemas.BUILD_PAYLOAD, tuples.build());
        load("probe", TupleSchemas.PROBE_KEY, TupleSchemas.PROBE_PAYLOAD, tuples.probe());
    }

    private void load(String table, String key, String payload, List<Chunk> chunks)
            throws SQLException {
        execute(
                "CREATE TABLE %s (%s BIGINT NOT NULL, %s BIGINT NOT NULL)"
                        .formatted(table, key, payload));
        try (DuckDBAppender appender = connection.createAppender("main", table)) {
            for (Chunk chunk : chunks) {
                for (int row = 0; row < chunk.rowCount(); row++) {
                    appender.beginRow();
                    appender.append(chunk.getLong(TupleSchemas.KEY, row));
                    appender.append(chunk.getLong(TupleSchemas.PAYLOAD, row));
                    appender.endRow();
                }
            }
        }
    }

    @Override
    public Measurement run() throws SQLException {
        long startNs = System.nanoTime();
        try (Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery(query.sql())) {
            result.next();
            JoinAnswer answer = new JoinAnswer(result.getLong(1), result.getLong(2));
            long elapsedNs = System.nanoTime() - startNs;
            return new Measurement(
                    Tuples.rowCount(tuples.probe()), elapsedNs, answer, expected, Map.of());
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
