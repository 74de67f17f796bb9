// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static io.github.gpujoin.flink.api.ColumnPredicate.column;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import io.github.gpujoin.flink.config.JoinConfig;
import java.io.Serializable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.apache.flink.api.common.eventtime.WatermarkGenerator;
import org.apache.flink.api.common.eventtime.WatermarkOutput;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Filters and groups through the public API on an embedded cluster, compared with plain loops. */
@ExtendWith(RegionLeakExtension.class)
class GroupedJoinITCase {

    @RegisterExtension
    static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setNumberTaskManagers(1)
                            .setNumberSlotsPerTaskManager(4)
                            .build());

    private static final long SEED = 987_654;

    /** A fact. */
    public static class Sale implements Serializable {
        public long customer;
        public int day;
        public short quantity;
        public long price;
        public Integer boxed;
        public String note;

        public Sale() {}
    }

    /** A dimension. */
    public static class Customer {
        public long id;
        public byte segment;
        public int day;
        public String city;

        public Customer() {}
    }

    private final List<Sale> sales = new ArrayList<>();
    private final List<Customer> customers = new ArrayList<>();

    @BeforeEach
    void generate() {
        Random random = new Random(SEED);
        for (int i = 0; i < 120; i++) {
            Customer customer = new Customer();
            customer.id = i % 100;
            customer.segment = (byte) (i % 5 - 2);
            customer.day = i;
            customer.city = i % 11 == 0 ? null : "city of " + i % 7;
            customers.add(customer);
        }
        for (int i = 0; i < 5_000; i++) {
            Sale sale = new Sale();
            sale.customer = random.nextInt(130);
            sale.day = random.nextInt(7);
            sale.quantity = (short) random.nextInt(50);
            sale.price = random.nextInt(1_000_000) - 1_000;
            sales.add(sale);
        }
    }

    private static StreamExecutionEnvironment environment(String engine) {
        Configuration config = new Configuration();
        config.set(PipelineOptions.GENERIC_TYPES, false);
        config.setString(GpuJoinOptions.ENGINE.key(), engine);
        config.setString(GpuJoinOptions.CHUNK_BYTES.key(), "2kb");
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(config);
        env.setParallelism(3);
        return env;
    }

    private StarJoin<Sale> join(StreamExecutionEnvironment env, boolean partitioned) {
        return join(
                env,
                d -> {
                    if (partitioned) {
                        d.partitioned();
                    }
                });
    }

    private StarJoin<Sale> join(
            StreamExecutionEnvironment env, Consumer<Dimension<Customer>> more) {
        return join(env, env.fromData(Sale.class, sales.toArray(Sale[]::new)), more);
    }

    private StarJoin<Sale> join(
            StreamExecutionEnvironment env,
            DataStream<Sale> facts,
            Consumer<Dimension<Customer>> more) {
        DataStream<Customer> dimension =
                env.fromData(Customer.class, customers.toArray(Customer[]::new));
        return StarJoin.of(facts)
                .where(sale -> sale.quantity != 7)
                .where(column("day").in(0, 2, 3, 6))
                .where(column("quantity").lessThan(40))
                .dimension(dimension, d -> more.accept(d.named("customers").on("customer", "id")));
    }

    /** Groups by day and segment: count, sum of prices, sum of price times quantity. */
    private Map<List<Object>, List<Long>> expected() {
        return expected(customer -> customer.segment);
    }

    /** Groups by day and a column of customers. */
    private Map<List<Object>, List<Long>> expected(Function<Customer, Object> column) {
        Map<List<Object>, List<Long>> groups = new TreeMap<>((a, b) -> ("" + a).compareTo("" + b));
        for (Sale sale : sales) {
            for (Customer customer : customers) {
                if (sale.customer == customer.id
                        && sale.quantity != 7
                        && sale.quantity < 40
                        && List.of(0, 2, 3, 6).contains(sale.day)) {
                    groups.merge(
                            Arrays.asList(sale.day, column.apply(customer)),
                            List.of(1L, sale.price, sale.price * sale.quantity),
                            GroupedJoinITCase::sums);
                }
            }
        }
        return groups;
    }

    private static List<Long> sums(List<Long> left, List<Long> right) {
        return IntStream.range(0, left.size()).mapToObj(i -> left.get(i) + right.get(i)).toList();
    }

    private static Map<List<Object>, List<Long>> collect(DataStream<Row> rows, int groupColumns)
            throws Exception {
        Map<List<Object>, List<Long>> groups = new TreeMap<>((a, b) -> ("" + a).compareTo("" + b));
        try (CloseableIterator<Row> collected = rows.executeAndCollect()) {
            while (collected.hasNext()) {
                Row row = collected.next();
                List<Object> group = new ArrayList<>();
                List<Long> values = new ArrayList<>();
                for (int i = 0; i < row.getArity(); i++) {
                    if (i < groupColumns) {
                        group.add(row.getField(i));
                    } else {
                        values.add((Long) row.getField(i));
                    }
                }
                groups.merge(group, values, GroupedJoinITCase::sums);
            }
        }
        return groups;
    }

    @ParameterizedTest(name = "engine={0}, partitioned={1}")
    @CsvSource({"cpu,false", "cpu,true", "reference,false"})
    void shouldFilterAndGroupByColumnsOfAllSides(String engine, boolean partitioned)
            throws Exception {
        DataStream<Row> rows =
                join(environment(engine), partitioned)
                        .groupBy("facts.day AS saleDay", "segment")
                        .count("n")
                        .sum("price", "total")
                        .sumOfProduct("price", "quantity", "turnover")
                        .toRows();
        Map<List<Object>, List<Long>> groups = collect(rows, 2);
        assertThat(groups).isNotEmpty().containsExactlyEntriesOf(expected());
    }

    @ParameterizedTest(name = "engine={0}, partitioned={1}")
    @CsvSource({"cpu,false", "cpu,true", "reference,false", "reference,true"})
    void shouldGroupByTextOfADimension(String engine, boolean partitioned) throws Exception {
        DataStream<Row> rows =
                join(environment(engine), partitioned)
                        .groupBy("facts.day AS saleDay", "city")
                        .count("n")
                        .sum("price", "total")
                        .sumOfProduct("price", "quantity", "turnover")
                        .toRows();
        assertThat(collect(rows, 2))
                .containsExactlyEntriesOf(expected(customer -> customer.city))
                .containsKey(Arrays.asList(3, null));
    }

    @Test
    void shouldAddUpTextGroupsInTheEngine() throws Exception {
        DataStream<Row> parts =
                join(environment("cpu"), false).groupBy("city").count("n").toPartialRows();
        long rows = 0;
        long results = 0;
        try (CloseableIterator<Row> collected = parts.executeAndCollect()) {
            while (collected.hasNext()) {
                rows++;
                results += collected.next().<Long>getFieldAs("n");
            }
        }
        assertThat(rows).as("at most 8 groups of 3 subtasks").isBetween(8L, 24L);
        assertThat(results)
                .isEqualTo(expected().values().stream().mapToLong(sums -> sums.get(0)).sum())
                .isGreaterThan(1_000);
    }

    @Test
    void shouldGivePartsThatAddUp() throws Exception {
        DataStream<Row> rows =
                join(environment("cpu"), false)
                        .groupBy("facts.day", "segment")
                        .count("n")
                        .sum("price", "total")
                        .sumOfProduct("price", "quantity", "turnover")
                        .toPartialRows();
        assertThat(collect(rows, 2)).containsExactlyEntriesOf(expected());
    }

    @Test
    void shouldGiveOneGroupWithoutColumnsAndFieldsByName() throws Exception {
        DataStream<Row> rows =
                join(environment("cpu"), false).groupBy().count("n").sum("id", "ids").toRows();
        long count = expected().values().stream().mapToLong(sums -> sums.get(0)).sum();
        try (CloseableIterator<Row> collected = rows.executeAndCollect()) {
            Row only = collected.next();
            assertThat(only.getField("n")).isEqualTo(count);
            assertThat((Long) only.getField("ids")).isPositive();
            assertThat(collected.hasNext()).isFalse();
        }
    }

    @Test
    void shouldGiveWholeGroupsOfFactsThatEndWhileIdle() throws Exception {
        StreamExecutionEnvironment env = environment("cpu");
        List<Sale> all = sales;
        DataStream<Sale> facts =
                env.fromSource(
                                new NumberSequenceSource(0, all.size() - 1),
                                WatermarkStrategy.forGenerator(context -> new AlwaysIdle()),
                                "sales")
                        .map(i -> all.get(i.intValue()))
                        .returns(Sale.class);
        DataStream<Row> rows =
                join(env, facts, d -> {})
                        .groupBy("facts.day", "segment")
                        .count("n")
                        .sum("price", "total")
                        .sumOfProduct("price", "quantity", "turnover")
                        .toRows();
        assertThat(collect(rows, 2)).containsExactlyEntriesOf(expected());
    }

    /** Says that the stream is idle, with each record. */
    private static final class AlwaysIdle implements WatermarkGenerator<Long> {
        @Override
        public void onEvent(Long event, long timestamp, WatermarkOutput output) {
            output.markIdle();
        }

        @Override
        public void onPeriodicEmit(WatermarkOutput output) {}
    }

    @Test
    void shouldSayWhatCannotBeGrouped() {
        assertRefused("day", "Ambiguous column 'day'", "sides with it=[facts, customers]");
        assertRefused("nothing", "Unknown column 'nothing'", "facts=[", "customers=[", "segment");
        assertRefused("boxed", "Column of groups may be null: input=");
        assertRefused("note", "Column of groups is not an integer: input=");
        assertThatThrownBy(
                        () ->
                                join(environment("cpu"), d -> d.select("segment"))
                                        .groupBy("segment")
                                        .count("n")
                                        .toRows())
                .hasMessageContaining("Grouped join selects columns: side=customers");
        assertThatThrownBy(
                        () ->
                                join(environment("cpu"), false)
                                        .groupBy("segment AS n")
                                        .count("n")
                                        .toRows())
                .hasMessageContaining("Two result columns have the same name: names=[n, n]");
        Configuration negative = new Configuration();
        negative.set(GpuJoinOptions.GROUP_INTERVAL, Duration.ofMillis(-1));
        assertThatThrownBy(() -> JoinConfig.groupIntervalMs(negative))
                .hasMessage(
                        "Option out of range: gpu-join.group-interval=-1 ms. Set at least 0 ms and at"
                                + " most 1 h.");
        assertThatThrownBy(() -> join(environment("cpu"), false).groupBy("segment").toRows())
                .hasMessageContaining(
                        "Number of counts and sums is out of range (1 to 8): aggregates=0");
    }

    private void assertRefused(String groupColumn, String... messages) {
        assertThatThrownBy(
                        () ->
                                join(environment("cpu"), false)
                                        .groupBy(groupColumn)
                                        .count("n")
                                        .toRows())
                .isInstanceOf(IllegalArgumentException.class)
                .message()
                .contains(messages);
    }
}
