// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.LocalDateTime;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.flink.table.api.Schema;
import org.apache.flink.table.api.TableDescriptor;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.planner.factories.TestValuesTableFactory;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Joins that stay Flink's: EXPLAIN shows the reason, and results are those without this module. */
class JoinsOfFlinkITCase {

    @RegisterExtension private static final MiniClusterExtension CLUSTER = SqlComparison.cluster();

    private static final String WINDOWS =
            "(SELECT * FROM TABLE(TUMBLE(TABLE %s, DESCRIPTOR(ts), INTERVAL '4' SECOND)))";

    @AfterEach
    void clear() {
        TestValuesTableFactory.clearAllData();
    }

    private static String rows() {
        List<Row> rows =
                IntStream.range(0, 20)
                        .mapToObj(i -> Row.of(i, i % 5, LocalDateTime.of(2026, 1, 1, 0, 0, i)))
                        .toList();
        return TestValuesTableFactory.registerData(rows);
    }

    private static String lookupTable() {
        return "CREATE TABLE c (id INT, k INT, ts TIMESTAMP(3)) WITH ('connector'='values', 'bounded'='true', 'data-id'='%s')"
                .formatted(rows());
    }

    private static SqlComparison streaming() {
        SqlComparison join = new SqlComparison();
        for (String name : List.of("a", "b")) {
            join.with(
                    "CREATE TABLE %s (id INT, k INT, ts TIMESTAMP(3), p AS PROCTIME(), WATERMARK FOR ts AS ts) WITH ('connector'='values', 'data-id'='%s')"
                            .formatted(name, rows()));
        }
        return join.with(lookupTable());
    }

    private static SqlComparison batch() {
        SqlComparison join = new SqlComparison().inBatchMode();
        for (String name : List.of("a", "b")) {
            join.with(
                    "CREATE TABLE %s (id INT, k INT, ts TIMESTAMP(3), p AS PROCTIME()) WITH ('connector'='values', 'bounded'='true', 'data-id'='%s')"
                            .formatted(name, rows()));
        }
        return join.with(lookupTable());
    }

    private static void assertStays(SqlComparison join, String reason, String query)
            throws Exception {
        assertThat(join.explain(query))
                .contains("gpuJoin=[" + reason + ": ")
                .doesNotContain("GpuJoin");
        join.assertEqual(query);
    }

    @ParameterizedTest
    @ValueSource(strings = {"JOIN", "LEFT JOIN", "FULL JOIN"})
    void shouldExplainIntervalJoin(String kind) throws Exception {
        assertStays(
                streaming(),
                "INTERVAL_JOIN",
                "SELECT a.id, b.id FROM a %s b ON a.k = b.k AND a.ts BETWEEN b.ts - INTERVAL '6' SECOND AND b.ts"
                        .formatted(kind));
    }

    @ParameterizedTest
    @ValueSource(strings = {"JOIN", "LEFT JOIN"})
    void shouldExplainWindowJoin(String kind) throws Exception {
        assertStays(
                streaming(),
                "WINDOW_JOIN",
                "SELECT a.id, b.id FROM %s a %s %s b ON a.k = b.k AND a.window_start = b.window_start AND a.window_end = b.window_end"
                        .formatted(WINDOWS.formatted("a"), kind, WINDOWS.formatted("b")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"JOIN", "LEFT JOIN"})
    void shouldExplainLookupJoin(String kind) throws Exception {
        String query =
                "SELECT a.id, c.id FROM a %s c FOR SYSTEM_TIME AS OF a.p ON a.k = c.id"
                        .formatted(kind);
        SqlComparison streaming = streaming();
        assertThat(streaming.explain(query)).contains("LookupJoin(");
        assertStays(streaming, "LOOKUP_JOIN", query);
        assertStays(batch(), "LOOKUP_JOIN", query);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT a.id, a.ts, c.* FROM a JOIN c FOR SYSTEM_TIME AS OF a.p ON a.k = c.id",
                "SELECT a.id, c.k FROM a LEFT JOIN c FOR SYSTEM_TIME AS OF a.p ON a.id = c.k AND c.id > 7",
                "SELECT a.id, c.id FROM a JOIN c FOR SYSTEM_TIME AS OF a.p ON a.k = c.k AND a.id < c.id",
                "SELECT a.k, COUNT(*) FROM a JOIN c FOR SYSTEM_TIME AS OF a.p ON a.k = c.id AND a.id = c.k GROUP BY a.k",
                "SELECT window_start, COUNT(*) FROM TABLE(TUMBLE((SELECT a.ts, c.id FROM a JOIN c FOR SYSTEM_TIME AS OF a.p ON a.k = c.k), DESCRIPTOR(ts), INTERVAL '4' SECOND)) GROUP BY window_start, window_end"
            })
    void shouldLoadLookupTableIfSet(String query) throws Exception {
        SqlComparison join = streaming().set("gpu-join.sql.load-lookup-tables", "true");
        assertThat(join.explain(query))
                .contains("lookupTable=[read once, at the start]")
                .doesNotContain("LookupJoin(");
        join.assertEqual(query);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT a.id, c.id FROM a LEFT JOIN c FOR SYSTEM_TIME AS OF a.p ON a.k = c.k AND a.id < c.id",
                "SELECT /*+ LOOKUP('table'='c', 'retry-predicate'='lookup_miss', 'retry-strategy'='fixed_delay', 'fixed-delay'='1 ms', 'max-attempts'='1') */ a.id, c.id FROM a JOIN c FOR SYSTEM_TIME AS OF a.p ON a.k = c.id",
                "SELECT x.k, c.id FROM (SELECT k, PROCTIME() AS p FROM a GROUP BY k) x JOIN c FOR SYSTEM_TIME AS OF x.p ON x.k = c.id"
            })
    void shouldLookUpWhatLoadedTableDoesNotReplace(String query) throws Exception {
        SqlComparison join = streaming().set("gpu-join.sql.load-lookup-tables", "true");
        assertStays(join, "LOOKUP_JOIN", query);
    }

    @Test
    void shouldLookUpTableWhoseScanReadsChanges() throws Exception {
        String changes =
                TestValuesTableFactory.registerData(
                        List.of(
                                Row.ofKind(RowKind.INSERT, 1, 10),
                                Row.ofKind(RowKind.UPDATE_AFTER, 1, 11)));
        SqlComparison join =
                streaming()
                        .set("gpu-join.sql.load-lookup-tables", "true")
                        .with(
                                "CREATE TABLE d (id INT, v INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector'='values', 'bounded'='true', 'changelog-mode'='I,UA,D', 'data-id'='%s')"
                                        .formatted(changes));
        assertThat(
                        join.explain(
                                "SELECT a.id, d.v FROM a JOIN d FOR SYSTEM_TIME AS OF a.p ON a.k = d.id"))
                .contains("gpuJoin=[LOOKUP_JOIN: ")
                .doesNotContain("GpuStarJoin");
    }

    @Test
    void shouldExplainNestedLoopJoin() throws Exception {
        assertStays(
                batch(),
                "NESTED_LOOP_JOIN",
                "SELECT /*+ NEST_LOOP(b) */ a.id, b.id FROM a JOIN b ON a.k = b.k");
        assertStays(batch(), "NO_EQUAL_COLUMNS", "SELECT a.id, b.id FROM a JOIN b ON a.k < b.k");
    }

    @ParameterizedTest
    @CsvSource({"SHUFFLE_HASH, HashJoin(", "SHUFFLE_MERGE, SortMergeJoin("})
    void shouldExplainShuffledJoinOfBatchMode(String hint, String node) throws Exception {
        String query =
                "SELECT /*+ %s(b) */ a.id, b.id FROM a LEFT JOIN b ON a.k = b.k AND a.id < b.id"
                        .formatted(hint);
        assertThat(batch().explain(query)).contains(node);
        assertStays(batch(), "CONDITION_IN_BATCH_MODE", query);
    }

    @Test
    void shouldExplainDeltaJoin() {
        TableEnvironment tables =
                new SqlComparison()
                        .set("table.optimizer.delta-join.strategy", "FORCE")
                        .set("table.exec.sink.require-on-conflict", "false")
                        .set("table.exec.sink.upsert-materialize", "NONE")
                        .with(
                                "CREATE TABLE sink (x INT, y INT, PRIMARY KEY (x, y) NOT ENFORCED) WITH ('connector'='values', 'sink-insert-only'='false')")
                        .environment();
        for (String name : List.of("a", "b")) {
            tables.createTable(
                    name,
                    TableDescriptor.forConnector("values")
                            .option("async", "true")
                            .schema(
                                    Schema.newBuilder()
                                            .column("id", "INT NOT NULL")
                                            .column("k", "INT")
                                            .primaryKey("id")
                                            .index("k")
                                            .build())
                            .build());
        }
        assertThat(
                        tables.explainSql(
                                "INSERT INTO sink SELECT a.id, b.id FROM a JOIN b ON a.k = b.k"))
                .contains("DeltaJoin(", "gpuJoin=[DELTA_JOIN: ");
    }
}
