// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql;

import static io.github.gpujoin.sql.ChangingTable.APPENDED;
import static io.github.gpujoin.sql.ChangingTable.KEYED;
import static io.github.gpujoin.sql.ChangingTable.KEYED_BY_JOIN_KEY;
import static io.github.gpujoin.sql.ChangingTable.RETRACTED;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.apache.flink.table.api.config.OptimizerConfigOptions;
import org.apache.flink.table.planner.factories.TestValuesTableFactory;
import org.apache.flink.table.planner.runtime.utils.FailingCollectionSource;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Multi-way joins of SQL, whose results equal those of Flink's multi-way join and of Flink's
 * regular joins.
 */
class MultiJoinITCase {

    @RegisterExtension private static final MiniClusterExtension CLUSTER = SqlComparison.cluster();

    private static final long SEED = 20261127;

    private static final List<List<ChangingTable>> TABLES =
            List.of(
                    List.of(APPENDED, APPENDED, APPENDED),
                    List.of(RETRACTED, APPENDED, KEYED),
                    List.of(KEYED, RETRACTED, KEYED_BY_JOIN_KEY),
                    List.of(KEYED_BY_JOIN_KEY, KEYED_BY_JOIN_KEY, RETRACTED));

    @AfterEach
    void clear() {
        TestValuesTableFactory.clearAllData();
    }

    private static SqlComparison comparison(List<ChangingTable> tables, boolean isMultiJoin) {
        return comparison(tables, isMultiJoin, "");
    }

    /**
     * @param options of the first table
     */
    private static SqlComparison comparison(
            List<ChangingTable> tables, boolean isMultiJoin, String options) {
        Random random = new Random(SEED);
        SqlComparison comparison =
                new SqlComparison()
                        .set(
                                OptimizerConfigOptions.TABLE_OPTIMIZER_MULTI_JOIN_ENABLED.key(),
                                Boolean.toString(isMultiJoin));
        for (int i = 0; i < tables.size(); i++) {
            comparison.with(
                    tables.get(i)
                            .table(Character.toString('a' + i), random, i == 0 ? options : ""));
        }
        return comparison;
    }

    private static void assertReplacedAndEqual(List<ChangingTable> tables, String query)
            throws Exception {
        SqlComparison join = comparison(tables, true);
        assertThat(join.explain(query)).contains("GpuMultiJoin(").doesNotContain("gpuJoin=");
        List<String> results = join.results(query);
        assertThat(results).isNotEmpty();
        assertThat(results).containsExactlyElementsOf(join.flinkResults(query));
        assertThat(results)
                .containsExactlyElementsOf(comparison(tables, false).flinkResults(query));
    }

    static Stream<Arguments> tablesAndKinds() {
        List<String> kinds = List.of("JOIN", "LEFT JOIN");
        return TABLES.stream()
                .flatMap(
                        tables ->
                                kinds.stream()
                                        .flatMap(
                                                first ->
                                                        kinds.stream()
                                                                .map(
                                                                        second ->
                                                                                Arguments.of(
                                                                                        tables,
                                                                                        first,
                                                                                        second))));
    }

    @ParameterizedTest
    @MethodSource("tablesAndKinds")
    void shouldJoinThreeInputsAsFlink(List<ChangingTable> tables, String first, String second)
            throws Exception {
        assertReplacedAndEqual(
                tables,
                "SELECT a.id, a.k, a.v, b.id, b.name, b.v, c.id, c.v FROM a %s b ON a.k = b.k %s c ON a.k = c.k"
                        .formatted(first, second));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                // a chain on the key of the input before
                "a LEFT JOIN b ON a.k = b.k LEFT JOIN c ON b.k = c.k",
                "a LEFT JOIN b ON a.k = b.k JOIN c ON b.k = c.k",
                // further columns within the key
                "a JOIN b ON a.k = b.k AND a.v > b.v LEFT JOIN c ON a.k = c.k AND c.v < b.v",
                "a LEFT JOIN b ON a.k = b.k LEFT JOIN c ON a.k = c.k AND b.name = c.name",
                "a LEFT JOIN b ON a.k = b.k AND a.v > 30 LEFT JOIN c ON a.k = c.k AND b.v IS NULL",
                // one input more than once
                "a LEFT JOIN a b ON a.k = b.k JOIN a c ON b.k = c.k",
                "a LEFT JOIN b ON a.k = b.k AND a.v > b.v LEFT JOIN b c ON a.k = c.k AND b.id = c.id",
                // a key of text, and one of two columns
                "a JOIN b ON a.name = b.name LEFT JOIN c ON a.name = c.name AND b.k = c.k",
                "a LEFT JOIN b ON a.k = b.k AND a.name = b.name LEFT JOIN c ON a.k = c.k AND a.name = c.name"
            })
    void shouldEvaluateConditionsOfSteps(String from) throws Exception {
        String query = "SELECT a.id, a.v, b.id, b.v, c.id, c.v FROM " + from;
        assertReplacedAndEqual(List.of(RETRACTED, KEYED, APPENDED), query);
        assertReplacedAndEqual(List.of(KEYED, RETRACTED, KEYED), query);
    }

    /** Flink's multi-way join takes such a column for one that is never null. */
    @Test
    void shouldCompareNullsOfInputsWithoutMatchAsRegularJoins() throws Exception {
        List<ChangingTable> tables = List.of(RETRACTED, KEYED, APPENDED);
        String query =
                "SELECT a.id, b.id, c.id FROM a LEFT JOIN b ON a.k = b.k AND a.v > 30"
                        + " LEFT JOIN c ON a.k = c.k AND b.id IS NULL";
        SqlComparison join = comparison(tables, true);
        assertThat(join.explain(query)).contains("GpuMultiJoin(").doesNotContain("gpuJoin=");
        assertThat(join.results(query))
                .containsExactlyElementsOf(comparison(tables, false).flinkResults(query));
    }

    @Test
    void shouldJoinFourInputsAndAggregatesBehindThem() throws Exception {
        assertReplacedAndEqual(
                List.of(KEYED_BY_JOIN_KEY, KEYED, RETRACTED, APPENDED),
                "SELECT a.k, COUNT(*), SUM(c.v), COUNT(d.id) FROM a LEFT JOIN b ON a.k = b.k"
                        + " JOIN c ON a.k = c.k LEFT JOIN d ON c.k = d.k GROUP BY a.k");
    }

    @Test
    void shouldContinueFromCheckpointAfterFailure() throws Exception {
        List<ChangingTable> tables = List.of(KEYED, RETRACTED, KEYED);
        String query =
                "SELECT a.id, a.v, b.id, b.v, c.id, c.v FROM a LEFT JOIN b ON a.k = b.k LEFT JOIN c ON a.k = c.k";
        List<String> expected = comparison(tables, false).flinkResults(query);
        FailingCollectionSource.reset();
        SqlComparison join =
                comparison(tables, true, ", 'failing-source'='true'")
                        .set("execution.checkpointing.interval", "20 ms")
                        .set("restart-strategy.type", "fixed-delay")
                        .set("restart-strategy.fixed-delay.delay", "10 ms");
        assertThat(join.explain(query)).contains("GpuMultiJoin(");
        assertThat(join.results(query)).containsExactlyElementsOf(expected);
        assertThat(FailingCollectionSource.failedBefore).isTrue();
    }

    @Test
    void shouldLeaveFloatingPointKeysToFlink() {
        assertThat(
                        comparison(TABLES.get(0), true)
                                .explain(
                                        "SELECT a.id FROM (SELECT id, CAST(v AS DOUBLE) AS x FROM a) a"
                                                + " JOIN (SELECT CAST(v AS DOUBLE) AS x FROM b) b ON a.x = b.x"))
                .contains("gpuJoin=[FLOATING_POINT_KEY: ")
                .doesNotContain("GpuMultiJoin");
    }

    @Test
    void shouldLeaveMultiJoinWithoutEqualColumnsToFlink() {
        assertThat(
                        comparison(TABLES.get(0), true)
                                .explain("SELECT a.id FROM a JOIN b ON a.v < b.v"))
                .contains("gpuJoin=[NO_EQUAL_COLUMNS: ")
                .doesNotContain("GpuMultiJoin");
    }
}
