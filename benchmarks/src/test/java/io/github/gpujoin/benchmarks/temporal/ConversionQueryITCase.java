// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.temporal;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.benchmarks.sql.SqlAnswers;
import io.github.gpujoin.benchmarks.sql.SqlJob;
import io.github.gpujoin.benchmarks.sql.SqlPlanner;
import io.github.gpujoin.benchmarks.workload.JoinAnswer;
import io.github.gpujoin.examples.run.JobCluster;
import java.sql.DriverManager;
import java.util.List;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.TimestampData;
import org.duckdb.DuckDBAppender;
import org.duckdb.DuckDBConnection;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Compares temporal joins of Flink and of this project with DuckDB's {@code ASOF JOIN}. */
class ConversionQueryITCase {

    private static final int THREADS = 2;

    private static final ConversionEvents EVENTS = new ConversionEvents(30_000, 500, 3);

    private static JobCluster cluster;
    private static DuckDBConnection duckDb;

    @BeforeAll
    static void open() throws Exception {
        cluster = JobCluster.open(THREADS, new Configuration());
        duckDb = (DuckDBConnection) DriverManager.getConnection("jdbc:duckdb:");
        try (var statement = duckDb.createStatement()) {
            statement.execute(
                    "CREATE TABLE orders (id BIGINT, currency BIGINT, price BIGINT, ts TIMESTAMP)");
            statement.execute("CREATE TABLE rates (currency BIGINT, rate BIGINT, since TIMESTAMP)");
        }
        try (DuckDBAppender orders = duckDb.createAppender("main", "orders");
                DuckDBAppender rates = duckDb.createAppender("main", "rates")) {
            EVENTS.forEach(
                    (row, table) -> append(table == ConversionEvents.ORDERS ? orders : rates, row));
        }
    }

    private static void append(DuckDBAppender appender, GenericRowData row) {
        try {
            appender.beginRow();
            for (int i = 0; i < row.getArity() - 1; i++) {
                appender.append(row.getLong(i));
            }
            TimestampData time = (TimestampData) row.getField(row.getArity() - 1);
            appender.append(time.toLocalDateTime());
            appender.endRow();
        } catch (Exception e) {
            throw new IllegalStateException("DuckDB rejects a row: row=" + row, e);
        }
    }

    @AfterAll
    static void close() throws Exception {
        duckDb.close();
        cluster.close();
    }

    @ParameterizedTest
    @EnumSource(ConversionQuery.class)
    void shouldConvertByTheRateOfTheOrdersTimeAsDuckDbDoes(ConversionQuery query) throws Exception {
        SqlJob job = query.job(EVENTS.logs(THREADS));
        List<String> expected =
                SqlAnswers.ofDuckDb(
                        duckDb,
                        "SELECT o.id, o.currency, o.price * r.rate, o.ts, r.since FROM orders o ASOF %s rates r ON o.currency = r.currency AND o.ts >= r.since"
                                .formatted(query.join()));
        assertThat(expected).hasSizeGreaterThan(10_000);
        JoinAnswer sum = SqlAnswers.ofSink(job, SqlPlanner.FLINK, cluster);
        assertThat(sum.count()).isEqualTo(expected.size());
        for (SqlPlanner planner : List.of(SqlPlanner.FLINK, SqlPlanner.OURS)) {
            assertThat(SqlAnswers.ofFlink(job, planner, cluster))
                    .as(planner.label())
                    .isEqualTo(expected);
            assertThat(SqlAnswers.ofSink(job, planner, cluster)).as(planner.label()).isEqualTo(sum);
        }
    }
}
