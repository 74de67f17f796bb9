// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql;

import static org.apache.flink.table.api.Expressions.$;
import static org.apache.flink.table.api.Expressions.call;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import org.apache.flink.table.api.Table;
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

    /**
     * Rows of both sides are out of order by more than the delay of their watermarks, and many have
     * equal times. All orders follow the last change of a rate, so the answer does not depend on
     * when a watermark arrives.
     */
    @ParameterizedTest(name = "seed={0} kind={1} delay={2} s changes={3} key={4}")
    @CsvSource({
        "1, JOIN, 0, 'I,UA,D', INT",
        "2, LEFT JOIN, 0, 'I,UB,UA,D', INT",
        "3, LEFT JOIN, 0, 'I,UA,D', INT",
        "4, JOIN, 5, 'I,UB,UA,D', INT",
        "5, LEFT JOIN, 0, 'I,UB,UA,D', STRING",
        "6, JOIN, 5, 'I,UA,D', STRING"
    })
    void shouldJoinLateRowsAsFlink(
            long seed, String kind, int delay, String changes, String keyType) throws Exception {
        Random random = new Random(seed);
        List<Row> rates = new ArrayList<>();
        for (int key = 0; key < 10; key++) {
            rates.addAll(changes(key(key, keyType), random, changes.contains("UB")));
        }
        List<Row> orders = new ArrayList<>();
        for (int id = 0; id < 300; id++) {
            int second = 40 + (300 - id) / 20 + random.nextInt(10);
            orders.add(Row.of(id, key(random.nextInt(12), keyType), second(second)));
        }
        SqlComparison join =
                new SqlComparison()
                        .with(
                                "CREATE TABLE orders (id INT, currency %s, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '%d' SECOND) WITH ('connector'='values','data-id'='%s')"
                                        .formatted(
                                                keyType,
                                                delay,
                                                TestValuesTableFactory.registerData(orders)))
                        .with(
                                "CREATE TABLE rates (currency %s, rate INT, since TIMESTAMP(3), WATERMARK FOR since AS since - INTERVAL '%d' SECOND, PRIMARY KEY (currency) NOT ENFORCED) WITH ('connector'='values','changelog-mode'='%s','data-id'='%s')"
                                        .formatted(
                                                keyType,
                                                delay,
                                                changes,
                                                TestValuesTableFactory.registerData(rates)));
        String query =
                "SELECT o.id, r.rate FROM orders o %s rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.currency = r.currency"
                        .formatted(kind);
        assertThat(join.explain(query)).contains("GpuTemporalJoin");
        join.assertEqual(query);
    }

    private static Object key(int number, String type) {
        return type.equals("STRING") ? "currency " + number : (Object) number;
    }

    /** Changes of a rate, whose times lie within the first 30 seconds. */
    private static List<Row> changes(Object key, Random random, boolean retracts) {
        List<Row> rows = new ArrayList<>();
        int since = random.nextInt(10);
        Row last = Row.ofKind(RowKind.INSERT, key, random.nextInt(1000), second(since));
        rows.add(last);
        for (int i = 0; i < 3; i++) {
            since += 1 + random.nextInt(6);
            if (retracts) {
                rows.add(
                        Row.ofKind(
                                RowKind.UPDATE_BEFORE,
                                last.getField(0),
                                last.getField(1),
                                last.getField(2)));
            }
            last = Row.ofKind(RowKind.UPDATE_AFTER, key, random.nextInt(1000), second(since));
            rows.add(last);
        }
        if (random.nextInt(3) == 0) {
            rows.add(Row.ofKind(RowKind.DELETE, key, last.getField(1), second(since + 1)));
        }
        return rows;
    }

    private static LocalDateTime second(int second) {
        return at(0).plusSeconds(second);
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

    @ParameterizedTest
    @CsvSource({
        "JOIN, o.name = r.name",
        "LEFT JOIN, o.name = r.name",
        "JOIN, o.name = r.name AND o.currency = r.currency",
        "LEFT JOIN, o.name = r.name AND o.currency = r.currency"
    })
    void shouldJoinVersionsByLongKeysAsFlink(String kind, String condition) throws Exception {
        SqlComparison join = comparison();
        String query =
                "SELECT o.id, o.price * r.rate, o.ts, r.since FROM orders o %s rates_by_name FOR SYSTEM_TIME AS OF o.ts AS r ON %s"
                        .formatted(kind, condition);
        assertThat(join.explain(query)).contains("GpuTemporalJoin");
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

    private static Table withTemporalFunction(TableEnvironment tables) {
        tables.createTemporarySystemFunction(
                "rates_at",
                tables.from("rates")
                        .select($("currency").as("c"), $("rate"), $("since"))
                        .createTemporalTableFunction($("since"), $("c")));
        return tables.from("orders")
                .joinLateral(call("rates_at", $("ts")), $("currency").isEqual($("c")))
                .select($("id"), $("price"), $("rate"));
    }

    /** The Table API has no FOR SYSTEM_TIME, but a query of SQL reads its tables. */
    @Test
    void shouldJoinVersionsOfTablesOfTheTableApi() throws Exception {
        Function<TableEnvironment, Table> query =
                tables -> {
                    tables.createTemporaryView(
                            "paid", tables.from("orders").where($("price").isGreater(10L)));
                    return tables.sqlQuery(
                                    "SELECT p.id, p.price, r.rate FROM paid p LEFT JOIN rates FOR SYSTEM_TIME AS OF p.ts AS r ON p.currency = r.currency")
                            .where($("id").isLess(6));
                };
        assertThat(comparison().explain(query)).contains("GpuTemporalJoin(");
        comparison().assertEqual(query);
    }

    @Test
    void shouldLeaveTemporalTableFunctionToFlink() throws Exception {
        assertThat(comparison().explain(TemporalJoinITCase::withTemporalFunction))
                .contains("gpuJoin=[TEMPORAL_FUNCTION: ")
                .doesNotContain("GpuTemporalJoin(");
        comparison().assertEqual(TemporalJoinITCase::withTemporalFunction);
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
