// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.records;

import io.github.gpujoin.benchmarks.flink.FlinkContender;
import io.github.gpujoin.flink.api.Dimension;
import io.github.gpujoin.flink.api.StarJoin;
import io.github.gpujoin.flink.api.TableJoin;
import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import java.lang.reflect.Field;
import java.util.Arrays;
import java.util.function.Consumer;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.Table;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.types.Row;

/** The jobs that are compared, and one run of each. Immutable. */
public final class RecordJobs {

    /** Outcome of a job. */
    public record Cost(double cpuNsPerFact, long results, long checksum) {}

    private interface Job {
        void define(StreamExecutionEnvironment env, CpuWindow window);
    }

    private final RecordSources sources;
    private final int customers;
    private final long facts;
    private final int threads;
    private final boolean reusesObjects;
    private final int buyers;
    private final boolean filtersFacts;
    private final long matches;

    /**
     * @param customers rows of the dimension
     * @param buyers whom the facts name, at least {@code customers}, who are the first of them
     */
    public RecordJobs(int customers, int buyers, long facts, int threads, boolean reusesObjects) {
        this(
                customers,
                buyers,
                facts,
                RecordData.matches(facts, customers, buyers),
                threads,
                reusesObjects,
                true);
    }

    private RecordJobs(
            int customers,
            int buyers,
            long facts,
            long matches,
            int threads,
            boolean reusesObjects,
            boolean filtersFacts) {
        this.customers = customers;
        this.buyers = buyers;
        this.facts = facts;
        this.threads = threads;
        this.reusesObjects = reusesObjects;
        this.filtersFacts = filtersFacts;
        this.matches = matches;
        this.sources = new RecordSources(customers, buyers, facts);
    }

    /** The same jobs, in which the keys of dimensions do not filter facts. */
    public RecordJobs unfiltered() {
        return new RecordJobs(customers, buyers, facts, matches, threads, reusesObjects, false);
    }

    /** Returns how many facts have a match. */
    public long matches() {
        return matches;
    }

    /**
     * Facts with a text key, of each of which a function makes a result without a join: what the
     * results and their sink cost.
     */
    public Cost textMapped() throws Exception {
        return run(
                facts,
                0,
                reusesObjects,
                (env, window) ->
                        sources.orders(env, window)
                                .map(o -> new PricedOrder(o.id, o.amount, "AUTOMOBILE", 1))
                                .returns(PricedOrder.class)
                                .sinkTo(priced(window)));
    }

    /** Facts with a text key into a sink. */
    public Cost textSource() throws Exception {
        return runSource(
                (env, window) ->
                        sources.orders(env, window)
                                .sinkTo(new WindowSink<>(window, order -> order.id)));
    }

    public Cost textReplicated() throws Exception {
        return runJoin((env, window) -> star(env, window, Dimension::replicated));
    }

    public Cost textPartitioned() throws Exception {
        return runJoin((env, window) -> star(env, window, Dimension::partitioned));
    }

    /** Two keyed streams, connected. */
    public Cost textKeyed() throws Exception {
        return runJoin(
                (env, window) ->
                        sources.customers(env, window)
                                .keyBy(new CustomerKey())
                                .connect(sources.orders(env, window).keyBy(new OrderKey()))
                                .process(
                                        new KeyedJoin<
                                                Tuple2<String, String>,
                                                Customer,
                                                Order,
                                                PricedOrder>(
                                                Customer.class,
                                                Order.class,
                                                (o, c) -> priced(o.id, o.amount, c)),
                                        TypeInformation.of(PricedOrder.class))
                                .sinkTo(priced(window)));
    }

    /** Facts of 20 columns into a sink. */
    public Cost wideSource() throws Exception {
        return runSource(
                (env, window) ->
                        sources.wideOrders(env, window)
                                .sinkTo(new WindowSink<>(window, order -> order.id)));
    }

    public Cost wideReplicated() throws Exception {
        return runJoin((env, window) -> wideStar(env, window, Dimension::replicated));
    }

    public Cost widePartitioned() throws Exception {
        return runJoin((env, window) -> wideStar(env, window, Dimension::partitioned));
    }

    /** Wide facts whose 20 columns are all in the results. */
    public Cost wholeReplicated() throws Exception {
        return runJoin(this::wholeStar);
    }

    /** Two keyed streams of wide facts, connected. */
    public Cost wideKeyed() throws Exception {
        return runJoin(
                (env, window) ->
                        sources.customers(env, window)
                                .keyBy(row -> row.number)
                                .connect(
                                        sources.wideOrders(env, window)
                                                .keyBy(order -> order.customer))
                                .process(
                                        new KeyedJoin<Long, Customer, WideOrder, PricedOrder>(
                                                Customer.class,
                                                WideOrder.class,
                                                (o, c) -> priced(o.id, o.amount, c)),
                                        TypeInformation.of(PricedOrder.class))
                                .sinkTo(priced(window)));
    }

    /** Facts of 16 bytes into a sink. */
    public Cost integerSource() throws Exception {
        return runSource(
                (env, window) ->
                        sources.sales(env, window)
                                .sinkTo(new WindowSink<>(window, sale -> sale.id)));
    }

    public Cost integerReplicated() throws Exception {
        return runJoin((env, window) -> integerStar(env, window, Dimension::replicated));
    }

    public Cost integerPartitioned() throws Exception {
        return runJoin((env, window) -> integerStar(env, window, Dimension::partitioned));
    }

    /** Two keyed streams of 16-byte rows, connected. */
    public Cost integerKeyed() throws Exception {
        return runJoin(
                (env, window) ->
                        sources.rates(env, window)
                                .keyBy(row -> row.number)
                                .connect(sources.sales(env, window).keyBy(sale -> sale.customer))
                                .process(
                                        new KeyedJoin<Long, Rate, Sale, RatedSale>(
                                                Rate.class,
                                                Sale.class,
                                                (s, r) -> new RatedSale(s.id, r.percent)),
                                        TypeInformation.of(RatedSale.class))
                                .sinkTo(rated(window)));
    }

    /** The builder of tables. */
    public Cost sqlBuilder() throws Exception {
        return runJoin(
                (env, window) -> {
                    StreamTableEnvironment tables = tables(env, window);
                    Table joined =
                            TableJoin.in(tables)
                                    .build(tables.from("customers"))
                                    .probe(tables.from("orders"))
                                    .on("region", "homeRegion")
                                    .on("customer", "name")
                                    .toTable();
                    tally(tables, joined, window);
                });
    }

    /** Flink's regular join of tables. */
    public Cost sqlRegular() throws Exception {
        return runJoin(
                (env, window) -> {
                    StreamTableEnvironment tables = tables(env, window);
                    tally(
                            tables,
                            tables.sqlQuery(
                                    "SELECT * FROM orders JOIN customers"
                                            + " ON region = homeRegion AND customer = name"),
                            window);
                });
    }

    /** Runs a job of the facts alone, without the copies that Flink makes between operators. */
    private Cost runSource(Job job) throws Exception {
        return run(facts, 0, true, job);
    }

    private Cost runJoin(Job job) throws Exception {
        return run(matches, customers, reusesObjects, job);
    }

    private Cost run(long results, int buildRows, boolean reuses, Job job) throws Exception {
        Configuration settings = new Configuration();
        settings.set(PipelineOptions.OBJECT_REUSE, reuses);
        settings.set(GpuJoinOptions.FACT_FILTERS, filtersFacts);
        try (CpuWindow window = new CpuWindow(results, buildRows)) {
            StreamExecutionEnvironment env = FlinkContender.environment(threads, settings);
            job.define(env, window);
            env.execute();
            double cpuNsPerFact = window.cpuNsPerRow() * results / facts;
            return new Cost(cpuNsPerFact, window.rows(), window.checksum());
        }
    }

    private void star(
            StreamExecutionEnvironment env,
            CpuWindow window,
            Consumer<Dimension<Customer>> distribution) {
        StarJoin.of(sources.orders(env, window))
                .select("id", "amount")
                .dimension(
                        sources.customers(env, window),
                        d -> {
                            d.on("region", "homeRegion")
                                    .on("customer", "name")
                                    .select("segment", "discount");
                            distribution.accept(d);
                        })
                .toPojos(PricedOrder.class)
                .sinkTo(priced(window));
    }

    private void wideStar(
            StreamExecutionEnvironment env,
            CpuWindow window,
            Consumer<Dimension<Customer>> distribution) {
        StarJoin.of(sources.wideOrders(env, window))
                .select("id", "amount")
                .dimension(
                        sources.customers(env, window),
                        d -> {
                            d.on("customer", "number").select("segment", "discount");
                            distribution.accept(d);
                        })
                .toPojos(PricedOrder.class)
                .sinkTo(priced(window));
    }

    private void wholeStar(StreamExecutionEnvironment env, CpuWindow window) {
        StarJoin.of(sources.wideOrders(env, window))
                .select(
                        Arrays.stream(WideOrder.class.getFields())
                                .map(Field::getName)
                                .toArray(String[]::new))
                .dimension(
                        sources.customers(env, window),
                        d -> d.on("customer", "number").select("segment", "discount").replicated())
                .toPojos(PricedWideOrder.class)
                .sinkTo(
                        new WindowSink<>(
                                window,
                                row ->
                                        RecordData.checksum(
                                                row.id, row.amount, row.segment, row.discount)));
    }

    private void integerStar(
            StreamExecutionEnvironment env,
            CpuWindow window,
            Consumer<Dimension<Rate>> distribution) {
        StarJoin.of(sources.sales(env, window))
                .select("id")
                .dimension(
                        sources.rates(env, window),
                        d -> {
                            d.on("customer", "number").select("percent");
                            distribution.accept(d);
                        })
                .toPojos(RatedSale.class)
                .sinkTo(rated(window));
    }

    private static PricedOrder priced(long id, double amount, Customer customer) {
        return new PricedOrder(id, amount, customer.segment, customer.discount);
    }

    private static WindowSink<RatedSale> rated(CpuWindow window) {
        return new WindowSink<>(window, row -> row.id + row.percent);
    }

    private StreamTableEnvironment tables(StreamExecutionEnvironment env, CpuWindow window) {
        StreamTableEnvironment tables = StreamTableEnvironment.create(env);
        tables.createTemporaryView("customers", sources.customers(env, window));
        tables.createTemporaryView("orders", sources.orders(env, window));
        return tables;
    }

    private static void tally(StreamTableEnvironment tables, Table joined, CpuWindow window) {
        Table selected = tables.sqlQuery("SELECT id, amount, segment, discount FROM " + joined);
        tables.toDataStream(selected)
                .sinkTo(
                        new WindowSink<Row>(
                                window,
                                row ->
                                        RecordData.checksum(
                                                (Long) row.getField(0),
                                                (Double) row.getField(1),
                                                (String) row.getField(2),
                                                (Double) row.getField(3))));
    }

    private static WindowSink<PricedOrder> priced(CpuWindow window) {
        return new WindowSink<>(
                window, row -> RecordData.checksum(row.id, row.amount, row.segment, row.discount));
    }

    private static final class CustomerKey
            implements KeySelector<Customer, Tuple2<String, String>> {
        private static final long serialVersionUID = 1L;

        @Override
        public Tuple2<String, String> getKey(Customer row) {
            return Tuple2.of(row.homeRegion, row.name);
        }
    }

    private static final class OrderKey implements KeySelector<Order, Tuple2<String, String>> {
        private static final long serialVersionUID = 1L;

        @Override
        public Tuple2<String, String> getKey(Order order) {
            return Tuple2.of(order.region, order.customer);
        }
    }
}
