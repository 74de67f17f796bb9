// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.apache.flink.table.planner.factories.TestValuesTableFactory;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Regular joins of SQL, whose results equal those of Flink's own join. */
class RegularJoinITCase {

    @RegisterExtension private static final MiniClusterExtension CLUSTER = SqlComparison.cluster();

    private static final long SEED = 20261127;
    private static final List<String> KINDS =
            List.of("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN");

    /** Declarations of a side: how its rows change, and its primary key. */
    private enum Side {
        APPENDED("I", ""),
        /** The planner knows no key, so that rows repeat. */
        RETRACTED("I,UB,UA,D", ""),
        /** Of the table's own key, which is not the key of the join. */
        KEYED("I,UB,UA,D", ", PRIMARY KEY (id) NOT ENFORCED"),
        /** Of the join's key. */
        KEYED_BY_JOIN_KEY("I,UB,UA,D", ", PRIMARY KEY (k) NOT ENFORCED");

        private final String mode;
        private final String primaryKey;

        Side(String mode, String primaryKey) {
            this.mode = mode;
            this.primaryKey = primaryKey;
        }
    }

    @AfterEach
    void clear() {
        TestValuesTableFactory.clearAllData();
    }

    /** Rows of (id, k, name, v): inserts, updates and deletes of random rows. */
    private static List<Row> changes(Side side, Random random) {
        List<Row> changes = new ArrayList<>();
        List<Row> live = new ArrayList<>();
        for (int id = 0; id < 60; id++) {
            boolean keyed = side == Side.KEYED_BY_JOIN_KEY;
            Integer k = keyed ? Integer.valueOf(id) : nullable(random.nextInt(12));
            Row row = Row.of(id, k, k == null ? null : "name " + k % 5, random.nextInt(100));
            changes.add(withKind(RowKind.INSERT, row));
            live.add(row);
            if (side == Side.APPENDED) {
                continue;
            }
            int chosen = random.nextInt(live.size());
            Row old = live.get(chosen);
            int what = random.nextInt(3);
            if (what == 0) {
                changes.add(withKind(RowKind.DELETE, old));
                live.remove(chosen);
            } else if (what == 1) {
                Row updated =
                        Row.of(
                                old.getField(0),
                                old.getField(1),
                                old.getField(2),
                                random.nextInt(100));
                changes.add(withKind(RowKind.UPDATE_BEFORE, old));
                changes.add(withKind(RowKind.UPDATE_AFTER, updated));
                live.set(chosen, updated);
            }
        }
        return changes;
    }

    private static Integer nullable(int value) {
        return value == 0 ? null : Integer.valueOf(value);
    }

    private static Row withKind(RowKind kind, Row row) {
        Row changed = Row.copy(row);
        changed.setKind(kind);
        return changed;
    }

    private static String table(String name, Side side, Random random) {
        return "CREATE TABLE %s (id INT, k INT, name STRING, v INT%s) WITH ('connector'='values', 'changelog-mode'='%s', 'data-id'='%s')"
                .formatted(
                        name,
                        side.primaryKey,
                        side.mode,
                        TestValuesTableFactory.registerData(changes(side, random)));
    }

    private static SqlComparison comparison(Side left, Side right) {
        Random random = new Random(SEED);
        return new SqlComparison().with(table("a", left, random)).with(table("b", right, random));
    }

    static Stream<Arguments> sidesAndKinds() {
        return Stream.of(
                        List.of(Side.APPENDED, Side.APPENDED),
                        List.of(Side.APPENDED, Side.RETRACTED),
                        List.of(Side.RETRACTED, Side.KEYED),
                        List.of(Side.KEYED, Side.KEYED_BY_JOIN_KEY),
                        List.of(Side.KEYED_BY_JOIN_KEY, Side.KEYED_BY_JOIN_KEY))
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
    void shouldJoinAsFlink(Side left, Side right, String kind) throws Exception {
        assertReplacedAndEqual(
                comparison(left, right),
                "SELECT a.id, a.k, a.v, b.id, b.name, b.v FROM a %s b ON a.k = b.k"
                        .formatted(kind));
    }

    @ParameterizedTest
    @ValueSource(strings = {"JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"})
    void shouldEvaluateConditionBesidesTheKey(String kind) throws Exception {
        assertReplacedAndEqual(
                comparison(Side.KEYED, Side.RETRACTED),
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
        assertReplacedAndEqual(comparison(Side.KEYED, Side.RETRACTED), query);
        assertReplacedAndEqual(comparison(Side.APPENDED, Side.APPENDED), query);
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
        assertReplacedAndEqual(comparison(Side.RETRACTED, Side.KEYED), query);
    }

    @ParameterizedTest
    @ValueSource(strings = {"a LEFT JOIN b", "b LEFT JOIN a"})
    void shouldCompareNullableKeyWithOneThatIsNotNull(String sides) throws Exception {
        assertReplacedAndEqual(
                comparison(Side.RETRACTED, Side.KEYED_BY_JOIN_KEY),
                "SELECT a.id, b.id FROM %s ON a.k IS NOT DISTINCT FROM b.k".formatted(sides));
    }

    @Test
    void shouldJoinResultsOfAggregatesAndJoins() throws Exception {
        assertReplacedAndEqual(
                comparison(Side.KEYED, Side.RETRACTED),
                "SELECT s.k, s.total, x.n FROM (SELECT k, SUM(v) AS total FROM a GROUP BY k) s LEFT JOIN"
                        + " (SELECT a.k AS k, COUNT(*) AS n FROM a JOIN b ON a.k = b.k GROUP BY a.k) x ON"
                        + " s.k = x.k");
    }

    @Test
    void shouldLeaveJoinWithoutEqualColumnsToFlink() throws Exception {
        SqlComparison join = comparison(Side.APPENDED, Side.APPENDED);
        String query = "SELECT a.id, b.id FROM a JOIN b ON a.v < b.v";
        assertThat(join.explain(query))
                .contains("gpuJoin=[NO_EQUAL_COLUMNS: ")
                .doesNotContain("GpuJoin");
        join.assertEqual(query);
    }

    @Test
    void shouldLeaveFloatingPointKeysToFlink() {
        assertThat(
                        comparison(Side.APPENDED, Side.APPENDED)
                                .explain(
                                        "SELECT a.id FROM a JOIN b ON CAST(a.v AS DOUBLE) = CAST(b.v AS DOUBLE)"))
                .contains("gpuJoin=[FLOATING_POINT_KEY: ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"ROW(v, k)", "ARRAY[v, k]"})
    void shouldLeaveNestedKeysToFlink(String key) throws Exception {
        SqlComparison join = comparison(Side.APPENDED, Side.APPENDED);
        String rows = "(SELECT id, %s AS nested FROM %s)";
        String query =
                "SELECT x.id, y.id FROM %s x JOIN %s y ON x.nested = y.nested"
                        .formatted(rows.formatted(key, "a"), rows.formatted(key, "b"));
        assertThat(join.explain(query)).contains("gpuJoin=[KEY_TYPE: ").doesNotContain("GpuJoin");
        join.assertEqual(query);
    }

    private static void assertReplacedAndEqual(SqlComparison join, String query) throws Exception {
        assertThat(join.explain(query)).contains("GpuJoin(").doesNotContain("gpuJoin=");
        join.assertEqual(query);
    }
}
