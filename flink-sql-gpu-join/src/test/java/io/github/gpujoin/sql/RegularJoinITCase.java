// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql;

import static org.apache.flink.table.api.Expressions.$;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Random;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Stream;
import org.apache.flink.table.api.ApiExpression;
import org.apache.flink.table.api.Table;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.planner.factories.TestValuesTableFactory;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Regular joins of SQL, whose results equal those of Flink's own join. */
class RegularJoinITCase {

    @RegisterExtension private static final MiniClusterExtension CLUSTER = SqlComparison.cluster();

    private static final long SEED = 20261127;
    private static final List<String> KINDS =
            List.of("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN");

    @AfterEach
    void clear() {
        TestValuesTableFactory.clearAllData();
    }

    private static SqlComparison comparison(ChangingTable left, ChangingTable right) {
        Random random = new Random(SEED);
        return new SqlComparison().with(left.table("a", random)).with(right.table("b", random));
    }

    static Stream<Arguments> sidesAndKinds() {
        return Stream.of(
                        List.of(ChangingTable.APPENDED, ChangingTable.APPENDED),
                        List.of(ChangingTable.APPENDED, ChangingTable.RETRACTED),
                        List.of(ChangingTable.RETRACTED, ChangingTable.KEYED),
                        List.of(ChangingTable.KEYED, ChangingTable.KEYED_BY_JOIN_KEY),
                        List.of(ChangingTable.KEYED_BY_JOIN_KEY, ChangingTable.KEYED_BY_JOIN_KEY))
                .flatMap(
                        sides ->
                                KINDS.stream()
                                        .map(
                                                kind ->
                                                        Arguments.of(
                                                                sides.get(0), sides.get(1), kind)));
    }

    @ParameterizedTest
    @MethodSource("sidesAndKinds")
    void shouldJoinAsFlink(ChangingTable left, ChangingTable right, String kind) throws Exception {
        assertReplacedAndEqual(
                comparison(left, right),
                "SELECT a.id, a.k, a.v, b.id, b.name, b.v FROM a %s b ON a.k = b.k"
                        .formatted(kind));
    }

    @ParameterizedTest
    @ValueSource(strings = {"JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"})
    void shouldEvaluateConditionBesidesTheKey(String kind) throws Exception {
        assertReplacedAndEqual(
                comparison(ChangingTable.KEYED, ChangingTable.RETRACTED),
                "SELECT a.id, a.v, b.id, b.v FROM a %s b ON a.k = b.k AND a.v > b.v"
                        .formatted(kind));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT * FROM a WHERE k IN (SELECT k FROM b)",
                "SELECT * FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE a.k = b.k)",
                "SELECT * FROM a WHERE EXISTS (SELECT 1 FROM b WHERE a.k = b.k AND a.v < b.v)"
            })
    void shouldJoinSemiAndAntiAsFlink(String query) throws Exception {
        assertReplacedAndEqual(comparison(ChangingTable.KEYED, ChangingTable.RETRACTED), query);
        assertReplacedAndEqual(comparison(ChangingTable.APPENDED, ChangingTable.APPENDED), query);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT a.id, b.id FROM a JOIN b ON a.name = b.name",
                "SELECT a.id, b.id FROM a FULL JOIN b ON a.k = b.k AND a.name = b.name",
                "SELECT a.id, b.id FROM a LEFT JOIN b ON a.k IS NOT DISTINCT FROM b.k",
                "SELECT a.id, b.id FROM a LEFT JOIN b ON a.k IS NOT DISTINCT FROM b.k AND a.name = b.name"
            })
    void shouldCompareTextAndCompositeKeysAndNulls(String query) throws Exception {
        assertReplacedAndEqual(comparison(ChangingTable.RETRACTED, ChangingTable.KEYED), query);
    }

    @ParameterizedTest
    @ValueSource(strings = {"a LEFT JOIN b", "b LEFT JOIN a"})
    void shouldCompareNullableKeyWithOneThatIsNotNull(String sides) throws Exception {
        assertReplacedAndEqual(
                comparison(ChangingTable.RETRACTED, ChangingTable.KEYED_BY_JOIN_KEY),
                "SELECT a.id, b.id FROM %s ON a.k IS NOT DISTINCT FROM b.k".formatted(sides));
    }

    @Test
    void shouldJoinResultsOfAggregatesAndJoins() throws Exception {
        assertReplacedAndEqual(
                comparison(ChangingTable.KEYED, ChangingTable.RETRACTED),
                "SELECT s.k, s.total, x.n FROM (SELECT k, SUM(v) AS total FROM a GROUP BY k) s LEFT JOIN"
                        + " (SELECT a.k AS k, COUNT(*) AS n FROM a JOIN b ON a.k = b.k GROUP BY a.k) x ON"
                        + " s.k = x.k");
    }

    @Test
    void shouldLeaveJoinWithoutEqualColumnsToFlink() throws Exception {
        SqlComparison join = comparison(ChangingTable.APPENDED, ChangingTable.APPENDED);
        String query = "SELECT a.id, b.id FROM a JOIN b ON a.v < b.v";
        assertThat(join.explain(query))
                .contains("gpuJoin=[NO_EQUAL_COLUMNS: ")
                .doesNotContain("GpuJoin");
        join.assertEqual(query);
    }

    @Test
    void shouldLeaveFloatingPointKeysToFlink() {
        assertThat(
                        comparison(ChangingTable.APPENDED, ChangingTable.APPENDED)
                                .explain(
                                        "SELECT a.id FROM a JOIN b ON CAST(a.v AS DOUBLE) = CAST(b.v AS DOUBLE)"))
                .contains("gpuJoin=[FLOATING_POINT_KEY: ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ROW(v, k)", "ARRAY[v, k]"})
    void shouldLeaveNestedKeysToFlink(String key) throws Exception {
        SqlComparison join = comparison(ChangingTable.APPENDED, ChangingTable.APPENDED);
        String rows = "(SELECT id, %s AS nested FROM %s)";
        String query =
                "SELECT x.id, y.id FROM %s x JOIN %s y ON x.nested = y.nested"
                        .formatted(rows.formatted(key, "a"), rows.formatted(key, "b"));
        assertThat(join.explain(query)).contains("gpuJoin=[KEY_TYPE: ").doesNotContain("GpuJoin");
        join.assertEqual(query);
    }

    /**
     * Rows are 50 ms apart, so that a row of the left side follows its match by 1.5 s. The option's
     * time to live is so short that rows expire although a job that waits joins them in a burst; a
     * hint is longer.
     */
    @ParameterizedTest
    @CsvSource({
        "false, /*+ STATE_TTL('b' = '1 d') */, 10",
        "false, /*+ STATE_TTL('a' = '1 d') */, 0",
        "false, '', 0",
        "true, '', 0",
        "true, /*+ STATE_TTL('b' = '1 d') */, 10"
    })
    void shouldExpireRowsAsFlink(boolean isMultiWay, String hint, int results) throws Exception {
        SqlComparison join =
                new SqlComparison()
                        .set("parallelism.default", "1")
                        .set("table.exec.state.ttl", "5 ms")
                        .set("table.optimizer.multi-join.enabled", String.valueOf(isMultiWay))
                        .with(
                                "CREATE TABLE s (id INT, later INT) WITH ('connector'='datagen', 'rows-per-second'='20', 'fields.id.kind'='sequence', 'fields.id.start'='1', 'fields.id.end'='40', 'fields.later.kind'='sequence', 'fields.later.start'='31', 'fields.later.end'='70')");
        String query = "SELECT %s a.id, b.id FROM s a JOIN s b ON a.id = b.later".formatted(hint);
        assertThat(join.explain(query)).contains(isMultiWay ? "GpuMultiJoin(" : "GpuJoin(");
        assertThat(join.results(query)).hasSize(results).isEqualTo(join.flinkResults(query));
    }

    // ------------------------------------------------------------------ bounded sides

    private static final String BOUNDED = ", 'bounded'='true'";

    /** Tables a, whose rows are unbounded, and b and c, which are bounded. */
    private static SqlComparison withBoundedTables() {
        Random random = new Random(SEED);
        return new SqlComparison()
                .with(ChangingTable.APPENDED.table("a", random))
                .with(ChangingTable.APPENDED.table("b", random, BOUNDED))
                .with(ChangingTable.APPENDED.table("c", random, BOUNDED));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT a.id, a.k, a.name, b.id, b.v FROM a JOIN b ON a.k = b.k",
                "SELECT a.id, a.k, a.name, b.id, b.v FROM b JOIN a ON a.k = b.k",
                "SELECT a.id, a.k, b.id, b.name FROM a LEFT JOIN b ON a.k = b.k",
                "SELECT a.id, a.k, b.id, b.name FROM b RIGHT JOIN a ON a.k = b.k",
                "SELECT a.id, b.id FROM a JOIN b ON a.k = b.k AND a.v > b.v",
                "SELECT * FROM a WHERE k IN (SELECT k FROM b)",
                "SELECT * FROM a WHERE NOT EXISTS (SELECT 1 FROM b WHERE a.k = b.k AND b.v > 50)",
                "SELECT a.id, b.id FROM a JOIN b ON a.name = b.name AND a.k = b.k",
                "SELECT a.id, b.id FROM a LEFT JOIN b ON a.k IS NOT DISTINCT FROM b.k",
                "SELECT a.id, b.id FROM a JOIN b ON a.k = b.k AND a.v = b.k",
                "SELECT a.id, b.id, c.id FROM a LEFT JOIN b ON a.k = b.k LEFT JOIN c ON a.v = c.id",
                "SELECT a.id, x.id FROM a JOIN (SELECT * FROM b UNION ALL SELECT * FROM c) x ON a.k = x.k",
                "SELECT a.k, COUNT(*), SUM(b.v) FROM a LEFT JOIN b ON a.k = b.k GROUP BY a.k",
                "SELECT /*+ STATE_TTL('a' = '1 d') */ a.id, b.id FROM a JOIN b ON a.k = b.k",
                "SELECT a.id, d.name FROM a JOIN (VALUES (1, 'x'), (2, 'y')) AS d(k, name) ON a.k = d.k"
            })
    void shouldLoadBoundedSide(String query) throws Exception {
        SqlComparison join = withBoundedTables();
        assertThat(join.explain(query))
                .contains("GpuStarJoin(")
                .doesNotContain("GpuJoin(", "gpuJoin=");
        join.assertEqual(query);
        assertThat(join.set("gpu-join.sql.star-joins", "false").explain(query))
                .contains("GpuJoin(")
                .doesNotContain("GpuStarJoin(");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SELECT a.id, b.id FROM a FULL JOIN b ON a.k = b.k",
                "SELECT a.id, b.id FROM b LEFT JOIN a ON a.k = b.k",
                "SELECT a.id, b.id FROM a LEFT JOIN b ON a.k = b.k AND a.v > b.v",
                "SELECT b.id, c.id FROM b JOIN c ON b.k = c.k",
                "SELECT a.id, x.n FROM a JOIN (SELECT k, COUNT(*) AS n FROM b GROUP BY k) x ON a.k = x.k",
                "SELECT /*+ STATE_TTL('b' = '1 d') */ a.id, b.id FROM a JOIN b ON a.k = b.k"
            })
    void shouldKeepRowsOfBothSidesIfNoneCanBeLoaded(String query) throws Exception {
        SqlComparison join = withBoundedTables();
        assertThat(join.explain(query)).contains("GpuJoin(").doesNotContain("GpuStarJoin(");
        join.assertEqual(query);
    }

    @Test
    void shouldLoadBoundedSideOnlyIfItsRowsDoNotExpire() {
        SqlComparison join = withBoundedTables().set("table.exec.state.ttl", "1 h");
        String query = "SELECT %s a.id, b.id FROM a JOIN b ON a.k = b.k";
        assertThat(join.explain(query.formatted(""))).contains("GpuJoin(");
        assertThat(join.explain(query.formatted("/*+ STATE_TTL('b' = '0 s') */")))
                .contains("GpuStarJoin(");
    }

    // ------------------------------------------------------------------ Table API

    /** Returns both tables, with names of columns that differ. */
    private static Table renamed(TableEnvironment tables, String name) {
        return tables.from(name)
                .select(
                        $("id").as(name + "Id"),
                        $("k").as(name + "K"),
                        $("name").as(name + "Name"),
                        $("v").as(name + "V"));
    }

    static Stream<Named<BiFunction<Table, Table, Table>>> joinsOfTheTableApi() {
        ApiExpression condition = $("aK").isEqual($("bK"));
        ApiExpression isGreater = $("aV").isGreater($("bV"));
        return Stream.of(
                Named.of("inner", (a, b) -> a.join(b).where(condition.and(isGreater))),
                Named.of("left", (a, b) -> a.leftOuterJoin(b, condition)),
                Named.of("full", (a, b) -> a.fullOuterJoin(b, condition)));
    }

    @ParameterizedTest
    @MethodSource("joinsOfTheTableApi")
    void shouldJoinTablesOfTheTableApi(BiFunction<Table, Table, Table> join) throws Exception {
        Function<TableEnvironment, Table> query =
                tables -> join.apply(renamed(tables, "a"), renamed(tables, "b"));
        SqlComparison changing = comparison(ChangingTable.APPENDED, ChangingTable.RETRACTED);
        assertThat(changing.explain(query)).contains("GpuJoin(");
        changing.assertEqual(query);
    }

    @Test
    void shouldLoadBoundedTableOfTheTableApi() throws Exception {
        Function<TableEnvironment, Table> query =
                tables ->
                        renamed(tables, "a")
                                .leftOuterJoin(renamed(tables, "b"), $("aK").isEqual($("bK")));
        SqlComparison join = withBoundedTables();
        assertThat(join.explain(query)).contains("GpuStarJoin(");
        join.assertEqual(query);
    }

    private static void assertReplacedAndEqual(SqlComparison join, String query) throws Exception {
        assertThat(join.explain(query)).contains("GpuJoin(").doesNotContain("gpuJoin=");
        join.assertEqual(query);
    }
}
