// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.benchmarks.workload.JoinAnswer;
import io.github.gpujoin.examples.run.JobCluster;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Timestamp;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.apache.flink.util.CloseableIterator;

/** Materialised results of queries as sorted texts, by Flink and by DuckDB. */
public final class SqlAnswers {

    private SqlAnswers() {}

    /** Returns the result of a job. */
    public static List<String> ofFlink(SqlJob job, SqlPlanner planner, JobCluster cluster)
            throws Exception {
        Map<String, Integer> counts = new HashMap<>();
        try (SqlRun run = new SqlRun(job.logs());
                CloseableIterator<Row> changes =
                        contender(job, planner, cluster).query(run).execute().collect()) {
            changes.forEachRemaining(
                    change ->
                            counts.merge(
                                    text(
                                            IntStream.range(0, change.getArity())
                                                    .mapToObj(change::getField)),
                                    isAdded(change.getKind()) ? 1 : -1,
                                    Integer::sum));
        }
        assertThat(counts.values()).allMatch(count -> count >= 0);
        return counts.entrySet().stream()
                .flatMap(entry -> Stream.generate(entry::getKey).limit(entry.getValue()))
                .sorted()
                .toList();
    }

    /** Returns what the job's sink adds up. */
    public static JoinAnswer ofSink(SqlJob job, SqlPlanner planner, JobCluster cluster)
            throws Exception {
        return contender(job, planner, cluster).run().answer();
    }

    private static SqlContender contender(SqlJob job, SqlPlanner planner, JobCluster cluster) {
        return new SqlContender(job, planner, cluster, new Configuration(), null);
    }

    private static boolean isAdded(RowKind kind) {
        return kind == RowKind.INSERT || kind == RowKind.UPDATE_AFTER;
    }

    /** Returns the result of a query of DuckDB. */
    public static List<String> ofDuckDb(Connection duckDb, String sql) throws SQLException {
        List<String> rows = new ArrayList<>();
        try (Statement statement = duckDb.createStatement();
                ResultSet result = statement.executeQuery(sql)) {
            while (result.next()) {
                List<Object> fields = new ArrayList<>();
                for (int i = 1; i <= result.getMetaData().getColumnCount(); i++) {
                    fields.add(result.getObject(i));
                }
                rows.add(text(fields.stream()));
            }
        }
        rows.sort(null);
        return rows;
    }

    private static String text(Stream<?> fields) {
        return fields.map(SqlAnswers::text).collect(Collectors.joining("|"));
    }

    private static String text(Object field) {
        if (field instanceof Timestamp time) {
            return time.toLocalDateTime().toString();
        }
        return field instanceof BigDecimal number
                ? number.stripTrailingZeros().toPlainString()
                : String.valueOf(field);
    }
}
