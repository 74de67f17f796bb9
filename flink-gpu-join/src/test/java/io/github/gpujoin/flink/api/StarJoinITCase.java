// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static io.github.gpujoin.flink.api.SalesData.collect;
import static io.github.gpujoin.flink.api.SalesData.environment;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.flink.api.SalesData.Customer;
import io.github.gpujoin.flink.api.SalesData.Enriched;
import io.github.gpujoin.flink.api.SalesData.Sale;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.flink.api.common.functions.JoinFunction;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Joins through the public API on an embedded cluster, compared with nested loops. */
@ExtendWith(RegionLeakExtension.class)
class StarJoinITCase {

    @RegisterExtension
    static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setNumberTaskManagers(1)
                            .setNumberSlotsPerTaskManager(4)
                            .build());

    @ParameterizedTest(name = "engine={0} parallelism={1} partitioned={2}")
    @CsvSource({
        "cpu,1,false",
        "cpu,4,false",
        "cpu,4,true",
        "cpu,3,true",
        "reference,1,false",
        "reference,3,true",
        // the CPU's, where there is no GPU
        "gpu,1,true",
        "gpu,3,true",
        "gpu,1,false",
        "gpu,3,false"
    })
    void shouldJoinFactsWithTwoDimensionsAsNestedLoopsDo(
            String engine, int parallelism, boolean partitioned) throws Exception {
        SalesData data = new SalesData(3_000);
        StreamExecutionEnvironment env = environment(engine, parallelism);
        DataStream<Row> result =
                StarJoin.of(data.saleStream(env))
                        .where(sale -> sale.quantity < 40)
                        .select("quantity", "price", "note")
                        .dimension(
                                data.customerStream(env),
                                d -> {
                                    d.named("customer")
                                            .on("customer", "id")
                                            .where(customer -> customer.segment != 2)
                                            .select("nation");
                                    if (partitioned) {
                                        d.partitioned();
                                    }
                                })
                        .dimension(
                                data.productStream(env),
                                d ->
                                        d.named("product")
                                                .on("product", "id")
                                                .select("name AS productName", "weight"))
                        .uid("two-dimensions")
                        .toRows();

        List<String> expected = new ArrayList<>();
        for (Sale s : data.sales) {
            for (Customer c : data.customers) {
                for (Row p : data.products) {
                    if (s.quantity < 40
                            && c.segment != 2
                            && s.customer == c.id
                            && p.getField(0).equals(s.product)) {
                        expected.add(
                                Row.of(
                                                s.quantity,
                                                s.price,
                                                s.note,
                                                c.nation,
                                                p.getField(1),
                                                p.getField(2))
                                        .toString());
                    }
                }
            }
        }
        assertThat(expected).hasSizeGreaterThan(500);
        assertThat(collect(result)).containsExactlyInAnyOrderElementsOf(expected);
    }

    @Test
    void shouldNameResultFieldsInOrder() throws Exception {
        SalesData data = new SalesData(100);
        StreamExecutionEnvironment env = environment("cpu", 1);
        DataStream<Row> result =
                StarJoin.of(data.saleStream(env))
                        .select("note AS comment")
                        .dimension(
                                data.customerStream(env),
                                d -> d.on("customer", "id").select("id", "nation"))
                        .toRows();
        try (CloseableIterator<Row> rows = result.executeAndCollect()) {
            Row row = rows.next();
            assertThat(row.getFieldNames(true)).containsExactly("comment", "id", "nation");
            rows.forEachRemaining(r -> assertThat(r.<Long>getFieldAs("id")).isNotNull());
        }
    }

    @Test
    void shouldKeepAFactOnceInASemiJoin() throws Exception {
        SalesData data = new SalesData(2_000);
        StreamExecutionEnvironment env = environment("cpu", 2);
        DataStream<Row> result =
                StarJoin.of(data.saleStream(env))
                        .select("quantity", "price", "note")
                        .dimension(
                                data.customerStream(env),
                                d ->
                                        d.on("customer", "id")
                                                .where(customer -> customer.segment == 1)
                                                .semi())
                        .toRows();
        List<String> expected =
                data.sales.stream()
                        .filter(
                                s ->
                                        data.customers.stream()
                                                .anyMatch(
                                                        c -> c.segment == 1 && c.id == s.customer))
                        .map(s -> Row.of(s.quantity, s.price, s.note).toString())
                        .toList();
        assertThat(collect(result)).containsExactlyInAnyOrderElementsOf(expected);
    }

    /** What a POJO needs where a fact may have no match. */
    public static class Labelled {
        public String note;
        public Integer product;
        public String name;
        public Integer id;

        @Override
        public String toString() {
            return note + "," + product + "," + name + "," + id;
        }
    }

    private static StarJoin<Sale> labelled(
            DataStream<Sale> facts, DataStream<Row> products, boolean partitioned) {
        return StarJoin.of(facts)
                .select("note", "product")
                .dimension(
                        products,
                        d -> {
                            d.on("product", "id").select("name", "id").left();
                            if (partitioned) {
                                d.partitioned();
                            }
                        });
    }

    @ParameterizedTest(name = "engine={0} partitioned={1}")
    @CsvSource({"cpu,false", "cpu,true", "reference,true", "gpu,false"})
    void shouldKeepFactsWithoutAMatchInALeftJoin(String engine, boolean partitioned)
            throws Exception {
        SalesData data = new SalesData(2_000);
        List<String> expected = new ArrayList<>();
        for (Sale s : data.sales) {
            boolean matched = s.product != null && s.product % 3 == 0 && s.product < 150;
            String name = matched ? "product " + s.product / 3 : null;
            expected.add(
                    s.note + "," + s.product + "," + name + "," + (matched ? s.product : null));
        }
        expected.sort(Comparator.naturalOrder());
        StreamExecutionEnvironment env = environment(engine, 3);
        StarJoin<Sale> join = labelled(data.saleStream(env), data.productStream(env), partitioned);
        assertThat(collect(join.toPojos(Labelled.class))).isEqualTo(expected);

        // the same as chunks, read by a join that drops nothing
        StreamExecutionEnvironment other = environment(engine, 2);
        DataStream<Chunk> chunks =
                labelled(data.saleStream(other), data.productStream(other), false)
                        .uid("first")
                        .toChunks();
        DataStream<Labelled> again =
                StarJoin.ofChunks(chunks)
                        .select("note", "product", "name", "id")
                        .dimension(
                                data.productStream(other),
                                d -> d.on("id", "id").where(product -> false).anti())
                        .uid("second")
                        .toPojos(Labelled.class);
        assertThat(collect(again)).isEqualTo(expected);
    }

    @Test
    void shouldKeepFactsThatMatchNothingOnceInAnAntiJoin() throws Exception {
        SalesData data = new SalesData(2_000);
        StreamExecutionEnvironment env = environment("cpu", 2);
        DataStream<Row> result =
                StarJoin.of(data.saleStream(env))
                        .select("product", "note")
                        .dimension(data.productStream(env), d -> d.on("product", "id").anti())
                        .toRows();
        List<String> expected =
                data.sales.stream()
                        .filter(s -> s.product == null || s.product % 3 != 0 || s.product >= 150)
                        .map(s -> Row.of(s.product, s.note).toString())
                        .toList();
        assertThat(expected).hasSizeGreaterThan(500);
        assertThat(collect(result)).containsExactlyInAnyOrderElementsOf(expected);
    }

    @Test
    void shouldGivePojosAndTakeChunksThatAnotherJoinMade() throws Exception {
        SalesData data = new SalesData(2_000);
        StreamExecutionEnvironment env = environment("cpu", 2);
        DataStream<Chunk> chunks =
                StarJoin.of(data.saleStream(env))
                        .select("customer", "quantity", "price", "note")
                        .dimension(data.productStream(env), d -> d.on("product", "id"))
                        .uid("first")
                        .toChunks();
        DataStream<Enriched> result =
                StarJoin.ofChunks(chunks)
                        .where(row -> row.getInt("quantity") >= 10)
                        .select("quantity", "price", "note")
                        .dimension(
                                data.customerStream(env),
                                d -> d.on("customer", "id").select("nation", "segment"))
                        .uid("second")
                        .toPojos(Enriched.class);
        List<String> expected = new ArrayList<>();
        for (Sale s : data.sales) {
            long productMatches =
                    data.products.stream().filter(p -> p.getField(0).equals(s.product)).count();
            for (Customer c : data.customers) {
                for (long i = 0; i < productMatches && c.id == s.customer; i++) {
                    if (s.quantity >= 10) {
                        Enriched e = new Enriched();
                        e.quantity = s.quantity;
                        e.price = s.price;
                        e.note = s.note;
                        e.nation = c.nation;
                        e.segment = c.segment;
                        expected.add(e.toString());
                    }
                }
            }
        }
        assertThat(collect(result)).containsExactlyInAnyOrderElementsOf(expected);
    }

    @ParameterizedTest(name = "replicated={0}")
    @CsvSource({"false", "true"})
    void shouldCallTheFunctionForEveryPair(boolean replicated) throws Exception {
        SalesData data = new SalesData(2_000);
        StreamExecutionEnvironment env = environment("cpu", 3);
        PairJoin.Keyed<Customer, Sale> join =
                PairJoin.build(data.customerStream(env))
                        .probe(data.saleStream(env))
                        .where(c -> c.id, Types.LONG)
                        .equalTo(s -> s.customer, Types.LONG);
        if (replicated) {
            join.replicated();
        }
        DataStream<String> result =
                join.apply(
                        (JoinFunction<Customer, Sale, String>)
                                (c, s) -> c.nation + "|" + s.note + "|" + s.product,
                        Types.STRING);
        List<String> expected = new ArrayList<>();
        for (Sale s : data.sales) {
            for (Customer c : data.customers) {
                if (c.id == s.customer) {
                    expected.add(c.nation + "|" + s.note + "|" + s.product);
                }
            }
        }
        assertThat(collect(result)).containsExactlyInAnyOrderElementsOf(expected);
    }
}
