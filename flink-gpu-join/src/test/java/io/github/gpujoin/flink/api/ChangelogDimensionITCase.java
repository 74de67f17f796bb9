// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static io.github.gpujoin.flink.api.SalesData.collect;
import static io.github.gpujoin.flink.api.SalesData.environment;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.flink.api.SalesData.Customer;
import io.github.gpujoin.flink.api.SalesData.Sale;
import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Dimensions that change, through the public API on an embedded cluster. */
@ExtendWith(RegionLeakExtension.class)
class ChangelogDimensionITCase {

    @RegisterExtension
    static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setNumberTaskManagers(1)
                            .setNumberSlotsPerTaskManager(4)
                            .build());

    private static final int RACED_KEYS = 500;
    private static final String[] PRODUCT = {"id", "name", "weight"};

    /** Random changes of products, of one subtask, and the names that are left of them. */
    private static List<Row> changelog(long seed, Map<Integer, String> left) {
        Random random = new Random(seed);
        Map<Integer, Row> rows = new HashMap<>();
        List<Row> changes = new ArrayList<>();
        for (int i = 0; i < 2_000; i++) {
            int id = random.nextInt(160);
            Row old = rows.get(id);
            if (old != null && random.nextInt(3) == 0) {
                rows.remove(id);
                changes.add(of(RowKind.DELETE, old));
                continue;
            }
            long weight = random.nextInt(100);
            Row row = Row.ofKind(RowKind.INSERT, id, "product " + id + ", " + i, weight);
            if (old != null) {
                changes.add(of(RowKind.UPDATE_BEFORE, old));
                row.setKind(RowKind.UPDATE_AFTER);
            }
            rows.put(id, row);
            changes.add(row);
        }
        rows.forEach((id, row) -> left.put(id, row.getFieldAs(1)));
        rows.values().removeIf(row -> row.<Long>getFieldAs(2) < 50);
        left.keySet().retainAll(rows.keySet());
        return changes;
    }

    private static Row of(RowKind kind, Row row) {
        Row copy = Row.copy(row);
        copy.setKind(kind);
        return copy;
    }

    private static DataStream<Row> products(StreamExecutionEnvironment env, List<Row> changes) {
        return env.fromData(changes, Types.ROW_NAMED(PRODUCT, Types.INT, Types.STRING, Types.LONG));
    }

    @ParameterizedTest(name = "engine={0} partitioned={1}")
    @CsvSource({"cpu,true", "cpu,false", "reference,true", "gpu,false", "auto,true"})
    void shouldJoinWithWhatIsLeftOfAChangelogThatFactsWaitFor(String engine, boolean partitioned)
            throws Exception {
        SalesData data = new SalesData(2_000);
        Map<Integer, String> left = new HashMap<>();
        List<Row> changes = changelog(7, left);
        StreamExecutionEnvironment env = environment(engine, 3);
        StarJoin<Sale> join =
                StarJoin.of(data.saleStream(env))
                        .select("note")
                        .dimension(
                                data.customerStream(env),
                                d ->
                                        d.on("customer", "id")
                                                .where(customer -> customer.segment == 1)
                                                .semi())
                        .dimension(
                                products(env, changes),
                                d -> {
                                    d.named("product")
                                            .on("product", "id")
                                            .where(
                                                    product ->
                                                            product.<Long>getFieldAs("weight")
                                                                    >= 50)
                                            .select("name")
                                            .changelog()
                                            .completeAtWatermark(Long.MAX_VALUE);
                                    if (partitioned) {
                                        d.partitioned();
                                    }
                                });
        List<String> expected = new ArrayList<>();
        for (Sale s : data.sales) {
            if (left.containsKey(s.product)
                    && data.customers.stream()
                            .anyMatch(c -> c.id == s.customer && c.segment == 1)) {
                expected.add(Row.of(s.note, left.get(s.product)).toString());
            }
        }
        assertThat(expected).hasSizeGreaterThan(50);
        assertThat(collect(join.toRows())).containsExactlyInAnyOrderElementsOf(expected);
    }

    /** Keys that engines compare as themselves, packed and hashed. */
    private enum RacedKey {
        NUMBER(Types.LONG),
        DATE(Types.LOCAL_DATE),
        TEXT(Types.STRING),
        DECIMAL(Types.BIG_DEC);

        private final TypeInformation<?> type;

        RacedKey(TypeInformation<?> type) {
            this.type = type;
        }

        private Object of(long n) {
            long key = n % RACED_KEYS;
            return switch (this) {
                case NUMBER -> key;
                case DATE -> LocalDate.ofEpochDay(key);
                case TEXT -> "key " + key;
                case DECIMAL -> BigDecimal.valueOf(key, 3);
            };
        }
    }

    /** Facts {@code n} and {@code n + KEYS} have one key and come to different subtasks. */
    @ParameterizedTest
    @EnumSource
    void shouldGiveReplicasOneOrderOfChangesFromSeveralSources(RacedKey key) throws Exception {
        StreamExecutionEnvironment env = environment("cpu", 2);
        DataStream<Row> changes =
                numbers(env, "changes", 40L * RACED_KEYS)
                        .map(
                                n -> Row.of(key.of(n), n),
                                Types.ROW_NAMED(
                                        new String[] {"id", "value"}, key.type, Types.LONG));
        DataStream<Row> facts =
                numbers(env, "facts", 2L * RACED_KEYS)
                        .map(
                                n -> Row.of(key.of(n), n),
                                Types.ROW_NAMED(new String[] {"key", "n"}, key.type, Types.LONG));
        DataStream<Row> result =
                StarJoin.of(facts)
                        .select("n")
                        .dimension(
                                changes,
                                d ->
                                        d.on("key", "id")
                                                .select("value")
                                                .changelog(row -> RowKind.INSERT)
                                                .completeAtWatermark(Long.MAX_VALUE))
                        .toRows();
        Map<Long, Set<Object>> valuesByKey = new TreeMap<>();
        try (CloseableIterator<Row> rows = result.executeAndCollect()) {
            rows.forEachRemaining(
                    row ->
                            valuesByKey
                                    .computeIfAbsent(
                                            row.<Long>getFieldAs(0) % RACED_KEYS,
                                            id -> new HashSet<>())
                                    .add(row.getField(1)));
        }
        assertThat(valuesByKey).hasSize(RACED_KEYS);
        assertThat(valuesByKey.values()).allSatisfy(values -> assertThat(values).hasSize(1));
    }

    private static DataStream<Long> numbers(StreamExecutionEnvironment env, String name, long n) {
        return env.fromSource(
                new NumberSequenceSource(0, n - 1), WatermarkStrategy.noWatermarks(), name);
    }

    @Test
    void shouldNotLetFactsWaitForADimensionThatIsAlwaysChanging() throws Exception {
        SalesData data = new SalesData(500);
        StreamExecutionEnvironment env = environment("cpu", 2);
        DataStream<Row> result =
                StarJoin.of(data.saleStream(env))
                        .select("note")
                        .dimension(
                                products(env, changelog(8, new HashMap<>())),
                                d -> d.on("product", "id").select("name").changelog().left())
                        .toRows();
        // which name a sale has depends on what came first; that there is one row a sale does not
        assertThat(collect(result)).hasSize(data.sales.size());
    }

    @Test
    void shouldTakeAnyRecordThatIsToldItsKindAndRefuseOneThatIsNot() throws Exception {
        SalesData data = new SalesData(500);
        StreamExecutionEnvironment env = environment("cpu", 2);
        DataStream<Row> result =
                StarJoin.of(data.saleStream(env))
                        .select("note")
                        .dimension(
                                data.customerStream(env),
                                d ->
                                        d.on("customer", "id")
                                                .select("segment")
                                                .changelog(
                                                        c ->
                                                                c.segment == 3
                                                                        ? RowKind.DELETE
                                                                        : RowKind.INSERT)
                                                .completeAtWatermark(Long.MAX_VALUE))
                        .toRows();
        Map<Long, Customer> left = new HashMap<>();
        data.customers.forEach(c -> left.put(c.id, c));
        List<String> expected = new ArrayList<>();
        for (Sale s : data.sales) {
            Customer customer = left.get(s.customer);
            if (customer != null && customer.segment != 3) {
                expected.add(Row.of(s.note, customer.segment).toString());
            }
        }
        assertThat(collect(result)).containsExactlyInAnyOrderElementsOf(expected);
        StarJoin<Sale> untold = StarJoin.of(data.saleStream(env));
        assertThatThrownBy(() -> untold.dimension(data.customerStream(env), Dimension::changelog))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("changelog(record -> ...)")
                .hasMessageContaining("dimension-0");
    }
}
