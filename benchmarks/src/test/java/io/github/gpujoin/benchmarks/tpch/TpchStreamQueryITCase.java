// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.tpch;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.benchmarks.sql.SqlAnswers;
import io.github.gpujoin.benchmarks.sql.SqlJob;
import io.github.gpujoin.benchmarks.sql.SqlPlanner;
import io.github.gpujoin.benchmarks.workload.JoinAnswer;
import io.github.gpujoin.examples.run.JobCluster;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.LocalDate;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.types.RowKind;
import org.duckdb.DuckDBAppender;
import org.duckdb.DuckDBConnection;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Compares results of all planners with DuckDB's, over the rows that remain after all changes. */
class TpchStreamQueryITCase {

    private static final int THREADS = 2;

    private static final TpchChanges CHANGES = new TpchChanges(0.01, 20, 10, 7);

    private static JobCluster cluster;
    private static DuckDBConnection duckDb;

    @BeforeAll
    static void open() throws Exception {
        cluster = JobCluster.open(THREADS, new Configuration());
        duckDb = (DuckDBConnection) DriverManager.getConnection("jdbc:duckdb:");
        for (Map.Entry<ChangingTable, Map<String, Object[]>> table : remaining().entrySet()) {
            load(table.getKey(), table.getValue().values());
        }
    }

    /** Returns the rows of each table by their primary keys. */
    private static Map<ChangingTable, Map<String, Object[]>> remaining() {
        Map<ChangingTable, Map<String, Object[]>> tables = new EnumMap<>(ChangingTable.class);
        CHANGES.forEach(
                TpchStreamQuery.Q5.tables(),
                (table, row) -> {
                    Object[] fields =
                            IntStream.range(0, row.getArity()).mapToObj(row::getField).toArray();
                    Map<String, Object[]> rows =
                            tables.computeIfAbsent(table, key -> new LinkedHashMap<>());
                    if (row.getRowKind() == RowKind.DELETE) {
                        rows.remove(key(table, row));
                    } else {
                        rows.put(key(table, row), fields);
                    }
                });
        return tables;
    }

    private static String key(ChangingTable table, GenericRowData row) {
        return IntStream.range(0, table.keyColumns())
                .mapToObj(column -> String.valueOf(row.getField(column)))
                .collect(Collectors.joining("|"));
    }

    private static void load(ChangingTable table, Iterable<Object[]> rows) throws SQLException {
        try (var statement = duckDb.createStatement()) {
            statement.execute(
                    "CREATE TABLE %s (%s)"
                            .formatted(table.label(), String.join(", ", table.columns())));
        }
        try (DuckDBAppender appender = duckDb.createAppender("main", table.label())) {
            for (Object[] row : rows) {
                appender.beginRow();
                for (int column = 0; column < row.length; column++) {
                    append(appender, row[column], table.columns().get(column));
                }
                appender.endRow();
            }
        }
    }

    private static void append(DuckDBAppender appender, Object field, String column)
            throws SQLException {
        if (field instanceof Long number) {
            appender.append(number);
        } else if (field instanceof DecimalData number) {
            appender.append(number.toBigDecimal());
        } else if (field instanceof Integer number && column.endsWith("DATE")) {
            appender.append(LocalDate.ofEpochDay(number));
        } else if (field instanceof Integer number) {
            appender.append(number);
        } else {
            appender.append(field.toString());
        }
    }

    @AfterAll
    static void close() throws Exception {
        duckDb.close();
        cluster.close();
    }

    @ParameterizedTest
    @EnumSource(TpchStreamQuery.class)
    void shouldAnswerAsDuckDbDoesAfterAllChanges(TpchStreamQuery query) throws Exception {
        SqlJob job = query.job(CHANGES, THREADS);
        List<String> expected = SqlAnswers.ofDuckDb(duckDb, job.sql());
        assertThat(expected).isNotEmpty();
        JoinAnswer sum = SqlAnswers.ofSink(job, SqlPlanner.FLINK, cluster);
        assertThat(sum.count()).isEqualTo(expected.size());
        for (SqlPlanner planner : SqlPlanner.values()) {
            assertThat(SqlAnswers.ofFlink(job, planner, cluster))
                    .as(planner.label())
                    .isEqualTo(expected);
            assertThat(SqlAnswers.ofSink(job, planner, cluster)).as(planner.label()).isEqualTo(sum);
        }
    }
}
