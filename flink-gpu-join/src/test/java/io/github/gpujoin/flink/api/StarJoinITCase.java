package io.github.gpujoin.flink.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.flink.config.GpuJoinOptions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.functions.JoinFunction;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Joins through the public API on an embedded cluster, compared with nested loops. */
class StarJoinITCase {

    @RegisterExtension
    static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setNumberTaskManagers(1)
                            .setNumberSlotsPerTaskManager(4)
                            .build());

    private static final long SEED = 20240611;

    /** A fact. */
    public static class Sale {
        public long customer;
        public Integer product;
        public int quantity;
        public double price;
        public String note;

        public Sale() {}

        Sale(long customer, Integer product, int quantity, double price, String note) {
            this.customer = customer;
            this.product = product;
            this.quantity = quantity;
            this.price = price;
            this.note = note;
        }
    }

    /** A dimension. */
    public static class Customer {
        public long id;
        public String nation;
        public int segment;

        public Customer() {}

        Customer(long id, String nation, int segment) {
            this.id = id;
            this.nation = nation;
            this.segment = segment;
        }
    }

    /** A result. */
    public static class Enriched {
        public int quantity;
        public double price;
        public String note;
        public String nation;
        public int segment;

        @Override
        public String toString() {
            return quantity + "," + price + "," + note + "," + nation + "," + segment;
        }
    }

    private final List<Sale> sales = new ArrayList<>();
    private final List<Customer> customers = new ArrayList<>();
    private final List<Row> products = new ArrayList<>();

    @AfterEach
    void allRegionsComeBack() {
        assertThat(Region.openCount()).isZero();
    }

    private void generate(int saleCount) {
        Random random = new Random(SEED);
        for (int i = 0; i < 200; i++) {
            String nation = i % 7 == 0 ? null : "nation, \"" + i % 25 + "\"";
            // Keys repeat: 150 different ones for 200 rows.
            customers.add(new Customer((i % 150) * 0x1_0000_0003L, nation, i % 5));
        }
        for (int i = 0; i < 50; i++) {
            products.add(Row.of(i * 3, "product " + i, i % 4 == 0 ? null : (long) i));
        }
        for (int i = 0; i < saleCount; i++) {
            sales.add(
                    new Sale(
                            random.nextInt(180) * 0x1_0000_0003L,
                            random.nextInt(10) == 0 ? null : random.nextInt(160),
                            random.nextInt(50),
                            random.nextInt(10_000) / 100.0,
                            random.nextInt(5) == 0 ? null : "note " + i));
        }
    }

    private static StreamExecutionEnvironment environment(String engine, int parallelism) {
        Configuration config = new Configuration();
        config.set(PipelineOptions.GENERIC_TYPES, false);
        config.setString(GpuJoinOptions.ENGINE.key(), engine);
        config.setString(GpuJoinOptions.CHUNK_BYTES.key(), "2kb");
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(config);
        env.setParallelism(parallelism);
        return env;
    }

    private DataStream<Row> productStream(StreamExecutionEnvironment env) {
        return env.fromData(
                products,
                Types.ROW_NAMED(
                        new String[] {"id", "name", "weight"},
                        Types.INT,
                        Types.STRING,
                        Types.LONG));
    }

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
        generate(3_000);
        StreamExecutionEnvironment env = environment(engine, parallelism);
        Dimension<Sale, Customer> join =
                StarJoin.facts(env.fromData(sales))
                        .where(sale -> sale.quantity < 40)
                        .select("quantity", "price", "note")
                        .dimension(env.fromData(customers))
                        .named("customer")
                        .on("customer", "id")
                        .where(customer -> customer.segment != 2)
                        .select("nation");
        if (partitioned) {
            join.partitioned();
        }
        DataStream<Row> result =
                join.dimension(productStream(env))
                        .named("product")
                        .on("product", "id")
                        .select("name AS productName", "weight")
                        .uid("two-dimensions")
                        .toRows();

        List<String> expected = new ArrayList<>();
        for (Sale s : sales) {
            for (Customer c : customers) {
                for (Row p : products) {
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
        generate(100);
        StreamExecutionEnvironment env = environment("cpu", 1);
        DataStream<Row> result =
                StarJoin.facts(env.fromData(sales))
                        .select("note AS comment")
                        .dimension(env.fromData(customers))
                        .on("customer", "id")
                        .select("id", "nation")
                        .toRows();
        try (CloseableIterator<Row> rows = result.executeAndCollect()) {
            Row row = rows.next();
            assertThat(row.getFieldNames(true)).containsExactly("comment", "id", "nation");
            rows.forEachRemaining(r -> assertThat(r.<Long>getFieldAs("id")).isNotNull());
        }
    }

    @Test
    void shouldKeepAFactOnceInASemiJoin() throws Exception {
        generate(2_000);
        StreamExecutionEnvironment env = environment("cpu", 2);
        DataStream<Row> result =
                StarJoin.facts(env.fromData(sales))
                        .select("quantity", "price", "note")
                        .dimension(env.fromData(customers))
                        .on("customer", "id")
                        .where(customer -> customer.segment == 1)
                        .semi()
                        .toRows();
        List<String> expected =
                sales.stream()
                        .filter(
                                s ->
                                        customers.stream()
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

    private static Dimension<Sale, Row> labelled(DataStream<Sale> facts, DataStream<Row> products) {
        return StarJoin.facts(facts)
                .select("note", "product")
                .dimension(products)
                .on("product", "id")
                .select("name", "id")
                .left();
    }

    @ParameterizedTest(name = "engine={0} partitioned={1}")
    @CsvSource({"cpu,false", "cpu,true", "reference,true", "gpu,false"})
    void shouldKeepFactsWithoutAMatchInALeftJoin(String engine, boolean partitioned)
            throws Exception {
        generate(2_000);
        List<String> expected = new ArrayList<>();
        for (Sale s : sales) {
            boolean matched = s.product != null && s.product % 3 == 0 && s.product < 150;
            String name = matched ? "product " + s.product / 3 : null;
            expected.add(
                    s.note + "," + s.product + "," + name + "," + (matched ? s.product : null));
        }
        expected.sort(Comparator.naturalOrder());
        StreamExecutionEnvironment env = environment(engine, 3);
        Dimension<Sale, Row> join = labelled(env.fromData(sales), productStream(env));
        if (partitioned) {
            join.partitioned();
        }
        assertThat(collect(join.toPojos(Labelled.class))).isEqualTo(expected);

        // the same as chunks, read by a join that drops nothing
        StreamExecutionEnvironment other = environment(engine, 2);
        DataStream<Chunk> chunks =
                labelled(other.fromData(sales), productStream(other)).uid("first").toChunks();
        DataStream<Labelled> again =
                StarJoin.factChunks(chunks)
                        .select("note", "product", "name", "id")
                        .dimension(productStream(other))
                        .on("id", "id")
                        .where(product -> false)
                        .anti()
                        .uid("second")
                        .toPojos(Labelled.class);
        assertThat(collect(again)).isEqualTo(expected);
    }

    @Test
    void shouldKeepFactsThatMatchNothingOnceInAnAntiJoin() throws Exception {
        generate(2_000);
        StreamExecutionEnvironment env = environment("cpu", 2);
        DataStream<Row> result =
                StarJoin.facts(env.fromData(sales))
                        .select("product", "note")
                        .dimension(productStream(env))
                        .on("product", "id")
                        .anti()
                        .toRows();
        List<String> expected =
                sales.stream()
                        .filter(s -> s.product == null || s.product % 3 != 0 || s.product >= 150)
                        .map(s -> Row.of(s.product, s.note).toString())
                        .toList();
        assertThat(expected).hasSizeGreaterThan(500);
        assertThat(collect(result)).containsExactlyInAnyOrderElementsOf(expected);
    }

    @Test
    void shouldRefuseAPlaceForNullThatHasNone() {
        generate(1);
        StreamExecutionEnvironment env = environment("cpu", 1);
        Dimension<Sale, Customer> left =
                StarJoin.facts(env.fromData(sales))
                        .select("quantity", "price", "note")
                        .dimension(env.fromData(customers))
                        .on("customer", "id")
                        .select("nation", "segment")
                        .left();
        assertThatThrownBy(() -> left.toPojos(Enriched.class))
                .hasMessageContaining("null where a fact has no match")
                .hasMessageContaining("column=segment");
        assertThatThrownBy(
                        () ->
                                StarJoin.facts(env.fromData(sales))
                                        .where(ColumnPredicate.column("product").atLeast(3))
                                        .dimension(productStream(env))
                                        .on("product", "id")
                                        .anti()
                                        .groupBy()
                                        .count("n")
                                        .toRows())
                .hasMessageContaining("may be null: column=product");
    }

    @Test
    void shouldGivePojosAndTakeChunksThatAnotherJoinMade() throws Exception {
        generate(2_000);
        StreamExecutionEnvironment env = environment("cpu", 2);
        DataStream<Chunk> chunks =
                StarJoin.facts(env.fromData(sales))
                        .select("customer", "quantity", "price", "note")
                        .dimension(productStream(env))
                        .on("product", "id")
                        .uid("first")
                        .toChunks();
        DataStream<Enriched> result =
                StarJoin.factChunks(chunks)
                        .where(row -> row.getInt("quantity") >= 10)
                        .select("quantity", "price", "note")
                        .dimension(env.fromData(customers))
                        .on("customer", "id")
                        .select("nation", "segment")
                        .uid("second")
                        .toPojos(Enriched.class);
        List<String> expected = new ArrayList<>();
        for (Sale s : sales) {
            long productMatches =
                    products.stream().filter(p -> p.getField(0).equals(s.product)).count();
            for (Customer c : customers) {
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
        generate(2_000);
        StreamExecutionEnvironment env = environment("cpu", 3);
        GpuJoin.Keyed<Customer, Sale> join =
                GpuJoin.build(env.fromData(customers))
                        .probe(env.fromData(sales))
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
        for (Sale s : sales) {
            for (Customer c : customers) {
                if (c.id == s.customer) {
                    expected.add(c.nation + "|" + s.note + "|" + s.product);
                }
            }
        }
        assertThat(collect(result)).containsExactlyInAnyOrderElementsOf(expected);
    }

    @Test
    void shouldNameWhatIsMissing() {
        generate(1);
        StreamExecutionEnvironment env = environment("cpu", 1);
        DataStream<Sale> facts = env.fromData(sales);
        DataStream<Customer> dimension = env.fromData(customers);
        assertThatThrownBy(
                        () ->
                                StarJoin.facts(facts)
                                        .select("note")
                                        .dimension(dimension)
                                        .on("custmer", "id")
                                        .toRows())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("custmer")
                .hasMessageContaining("customer");
        assertThatThrownBy(
                        () ->
                                StarJoin.facts(facts)
                                        .select("note")
                                        .dimension(dimension)
                                        .on("note", "id")
                                        .toRows())
                .hasMessageContaining("a join key is an int, long")
                .hasMessageContaining("note");
        assertThatThrownBy(() -> StarJoin.facts(facts).select("note").dimension(dimension).toRows())
                .hasMessageContaining("a dimension is joined on a key");
        assertThatThrownBy(() -> StarJoin.facts(facts).select("note").toRows())
                .hasMessageContaining("a star join has at least one dimension");
        assertThatThrownBy(
                        () ->
                                StarJoin.facts(facts)
                                        .select("note")
                                        .dimension(dimension)
                                        .on("customer", "id")
                                        .select("nation")
                                        .semi()
                                        .toRows())
                .hasMessageContaining("semi- or anti-joined");
        assertThatThrownBy(
                        () ->
                                StarJoin.facts(facts)
                                        .dimension(dimension)
                                        .on("customer", "id")
                                        .partitioned()
                                        .dimension(dimension)
                                        .on("customer", "id")
                                        .partitioned()
                                        .select("nation")
                                        .toRows())
                .hasMessageContaining("one can be partitioned")
                .hasMessageContaining("dimension-1");
    }

    @Test
    void shouldRefuseBatchMode() {
        generate(1);
        Configuration config = new Configuration();
        config.set(ExecutionOptions.RUNTIME_MODE, RuntimeExecutionMode.BATCH);
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(config);
        assertThatThrownBy(
                        () ->
                                StarJoin.facts(env.fromData(sales))
                                        .select("note")
                                        .dimension(env.fromData(customers))
                                        .on("customer", "id")
                                        .toRows())
                .hasMessageContaining("streaming mode")
                .hasMessageContaining("BATCH");
    }

    private static <T> List<String> collect(DataStream<T> stream) throws Exception {
        List<String> rows = new ArrayList<>();
        try (CloseableIterator<T> results = stream.executeAndCollect()) {
            results.forEachRemaining(row -> rows.add(values(row)));
        }
        rows.sort(Comparator.naturalOrder());
        return rows;
    }

    /** A Row without its field names, as {@code Row.of(...)} prints it. */
    private static String values(Object record) {
        if (record instanceof Row row) {
            Object[] fields = new Object[row.getArity()];
            for (int i = 0; i < fields.length; i++) {
                fields[i] = row.getField(i);
            }
            return Row.of(fields).toString();
        }
        return record.toString();
    }
}
