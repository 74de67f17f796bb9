// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.LocalDateTime;
import java.util.List;
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

/** Temporal joins of SQL. Results by event time equal those of Flink's own join. */
class TemporalJoinITCase {

    @RegisterExtension private static final MiniClusterExtension CLUSTER = SqlComparison.cluster();

    private static final int EUR = 1;
    private static final int USD = 2;
    private static final int GBP = 3;

    private static final List<Row> ORDERS =
            List.of(
                    Row.of(1, EUR, "EUR", 10L, at(1)),
                    Row.of(2, USD, "USD", 20L, at(2)),
                    Row.of(3, EUR, "EUR", 30L, at(4)),
                    Row.of(4, null, null, 40L, at(5)),
                    Row.of(5, GBP, "GBP", 50L, at(6)),
                    Row.of(6, EUR, "EUR", 60L, at(9)));

    private static final List<Row> RATES =
            List.of(
                    Row.ofKind(RowKind.INSERT, EUR, "EUR", 110L, at(1)),
                    Row.ofKind(RowKind.INSERT, USD, "USD", 100L, at(1)),
                    Row.ofKind(RowKind.UPDATE_AFTER, EUR, "EUR", 112L, at(4)),
                    Row.ofKind(RowKind.DELETE, EUR, "EUR", 112L, at(8)));

    private static LocalDateTime at(int second) {
        return LocalDateTime.of(2026, 1, 1, 0, 0, second);
    }

    @AfterEach
    void clear() {
        TestValuesTableFactory.clearAllData();
    }

    private static SqlComparison comparison() {
        String orders = TestValuesTableFactory.registerData(ORDERS);
        String rates = TestValuesTableFactory.registerData(RATES);
        return new SqlComparison()
                .with(
                        "CREATE TABLE orders (id INT, currency INT, name STRING, price BIGINT, ts TIMESTAMP(3),"
                                + " paid AS PROCTIME(), WATERMARK FOR ts AS ts - INTERVAL '0.001' SECOND)"
                                + " WITH ('connector'='values','data-id'='%s')".formatted(orders))
                .with(
                        "CREATE TABLE rates (currency INT, name STRING, rate BIGINT, since TIMESTAMP(3),"
                                + " WATERMARK FOR since AS since - INTERVAL '0.001' SECOND, PRIMARY KEY (currency) NOT ENFORCED)"
                                + " WITH ('connector'='values','changelog-mode'='I,UA,D','data-id'='%s')"
                                        .formatted(rates))
                .with(
                        "CREATE TABLE rates_by_name (currency INT, name STRING, rate BIGINT,"
                                + " since TIMESTAMP(3), WATERMARK FOR since AS since - INTERVAL '0.001' SECOND,"
                                + " PRIMARY KEY (name) NOT ENFORCED)"
                                + " WITH ('connector'='values','changelog-mode'='I,UA,D','data-id'='%s')"
                                        .formatted(rates));
    }

    @ParameterizedTest
    @ValueSource(strings = {"JOIN", "LEFT JOIN"})
    void shouldJoinVersionsAsFlink(String kind) throws Exception {
        SqlComparison join = comparison();
        String query =
                "SELECT o.id, o.price * r.rate, o.ts, r.since FROM orders o %s rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.currency = r.currency"
                        .formatted(kind);
        assertThat(join.explain(query)).contains("GpuTemporalJoin");
        join.assertEqual(query);
    }

    @ParameterizedTest
    @ValueSource(strings = {"JOIN", "LEFT JOIN"})
    void shouldEvaluateConditionBesidesTheKey(String kind) throws Exception {
        SqlComparison join = comparison();
        String query =
                "SELECT o.id, r.currency, r.rate FROM orders o %s rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.currency = r.currency AND o.price * r.rate > 2500"
                        .formatted(kind);
        assertThat(join.explain(query)).contains("GpuTemporalJoin");
        join.assertEqual(query);
    }

    @Test
    void shouldKeepRowtimeAndWatermarksForWindows() throws Exception {
        SqlComparison join = comparison();
        String query =
                "SELECT window_start, SUM(amount) FROM TABLE(TUMBLE((SELECT o.ts, o.price * r.rate AS"
                        + " amount FROM orders o JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON"
                        + " o.currency = r.currency), DESCRIPTOR(ts), INTERVAL '3' SECOND)) GROUP BY"
                        + " window_start, window_end";
        assertThat(join.explain(query)).contains("GpuTemporalJoin");
        join.assertEqual(query);
    }

    @Test
    void shouldLeaveLongKeysOfVersionsToFlink() throws Exception {
        SqlComparison join = comparison();
        String query =
                "SELECT o.id, r.rate FROM orders o JOIN rates_by_name FOR SYSTEM_TIME AS OF o.ts AS r ON"
                        + " o.name = r.name";
        assertThat(join.explain(query))
                .contains("TemporalJoin(", "gpuJoin=[KEY_OVER_64_BITS: ")
                .doesNotContain("GpuTemporalJoin");
        join.assertEqual(query);
    }

    @ParameterizedTest
    @CsvSource({"rates, currency", "rates_by_name, name"})
    void shouldJoinByProcessingTimeWhatFlinkRefuses(String rates, String key) throws Exception {
        SqlComparison join = comparison();
        String query =
                "SELECT o.id, o.price, r.rate FROM orders o LEFT JOIN %s FOR SYSTEM_TIME AS OF o.paid AS r ON o.%s = r.%s"
                        .formatted(rates, key, key);
        assertThat(join.explain(query)).contains("GpuTemporalJoin");
        // Whether an order or a rate arrives first is up to the network.
        assertThat(join.results(query))
                .hasSize(ORDERS.size())
                .contains("+I[4, 40, null]", "+I[5, 50, null]");
    }

    @Test
    void shouldStayFlinksIfSwitchedOff() throws Exception {
        String query =
                "SELECT o.id FROM orders o JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.currency ="
                        + " r.currency";
        assertThat(
                        comparison()
                                .set("gpu-join.sql.enabled", "false")
                                .environment()
                                .explainSql(query))
                .contains("TemporalJoin(")
                .doesNotContain("Gpu", "gpuJoin");
    }
}
