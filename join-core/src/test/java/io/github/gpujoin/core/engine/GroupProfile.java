// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.engine;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.ToLongFunction;

/**
 * Measures joins that filter and aggregate against joins that return rows. Facts are those of the
 * star schema benchmark's first flight: four INT32 columns, joined with a calendar. Each thread has
 * its own engine. Not a test: {@link #run} prints a RESULT line for each case.
 */
public final class GroupProfile {

    private static final int DAYS = 2_556;
    private static final int CHUNK_ROWS = 64 << 10;

    private static final ChunkSchema FACTS =
            ChunkSchema.of(
                    Column.of("lo_orderdate", ColumnType.INT32),
                    Column.of("lo_discount", ColumnType.INT32),
                    Column.of("lo_quantity", ColumnType.INT32),
                    Column.of("lo_extendedprice", ColumnType.INT32));
    private static final DimensionSpec DATE =
            new DimensionSpec(
                    "date",
                    ChunkSchema.of(
                            Column.of("d_datekey", ColumnType.INT32),
                            Column.of("d_year", ColumnType.INT32)),
                    0,
                    0,
                    JoinKind.INNER);

    private static final JoinColumn ORDER_DATE = JoinColumn.ofFact(0);
    private static final JoinColumn DISCOUNT = JoinColumn.ofFact(1);
    private static final JoinColumn QUANTITY = JoinColumn.ofFact(2);
    private static final JoinColumn PRICE = JoinColumn.ofFact(3);
    private static final JoinColumn YEAR = new JoinColumn(0, 1);
    private static final List<FactFilter> FLIGHT_1 =
            List.of(
                    new FactFilter(1, ValueRanges.between(1, 3)),
                    new FactFilter(2, ValueRanges.lessThan(25)));

    private final JoinEngineFactory factory;
    private final int threads;
    private final long caseNs;
    private final List<Chunk> probes = new ArrayList<>();

    private GroupProfile(JoinEngineFactory factory, int threads, long caseNs) {
        this.factory = factory;
        this.threads = threads;
        this.caseNs = caseNs;
        Random random = new Random(11);
        for (int i = 0; i < 8; i++) {
            ChunkBuilder builder = new ChunkBuilder(FACTS, CHUNK_ROWS * FACTS.fixedRowBytes());
            for (int row = 0; row < CHUNK_ROWS; row++) {
                builder.putInt(0, random.nextInt(DAYS));
                builder.putInt(1, random.nextInt(11));
                builder.putInt(2, 1 + random.nextInt(50));
                builder.putInt(3, random.nextInt(10_000_000));
                builder.endRow();
            }
            probes.add(builder.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, i));
        }
    }

    /**
     * @param arguments number of threads; milliseconds of each case
     */
    public static void run(JoinEngineFactory factory, String... arguments) throws Exception {
        int threads = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 1;
        long caseMs = arguments.length > 1 ? Long.parseLong(arguments[1]) : 500;
        new GroupProfile(factory, threads, caseMs * 1_000_000).run();
    }

    private void run() throws Exception {
        List<Aggregate> revenue = List.of(Aggregate.sumOfProduct(PRICE, DISCOUNT));
        List<Aggregate> three =
                List.of(Aggregate.count(), Aggregate.sum(PRICE), Aggregate.sum(QUANTITY));
        measure("rows", List.of(), null);
        measure("rows, filtered", FLIGHT_1, null);
        measure("total", List.of(), new Aggregation(List.of(), revenue));
        measure("total, filtered", FLIGHT_1, new Aggregation(List.of(), revenue));
        measure("3 sums by 7 years", List.of(), new Aggregation(List.of(YEAR), three));
        measure(
                "3 sums by 350 years and quantities",
                List.of(),
                new Aggregation(List.of(YEAR, QUANTITY), three));
        measure("3 sums by 2556 days", List.of(), new Aggregation(List.of(ORDER_DATE), three));
        measure(
                "3 sums by 1.4 M days, quantities, discounts",
                List.of(),
                new Aggregation(List.of(ORDER_DATE, QUANTITY, DISCOUNT), three));
    }

    private void measure(String name, List<FactFilter> filters, Aggregation aggregation)
            throws Exception {
        JoinSpec spec = new JoinSpec(FACTS, List.of(DATE), filters, aggregation);
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        List<Callable<long[]>> tasks = new ArrayList<>();
        List<JoinEngine> engines = new ArrayList<>();
        for (int t = 0; t < threads; t++) {
            JoinEngine engine = engine(spec);
            engines.add(engine);
            tasks.add(() -> probe(engine));
        }
        long start = System.nanoTime();
        List<Future<long[]>> futures = pool.invokeAll(tasks);
        double seconds = (System.nanoTime() - start) / 1e9;
        pool.shutdown();
        long rows = sum(futures, r -> r[0]);
        System.out.printf(
                Locale.ROOT,
                "RESULT %s = %.3f G rows/s, takes=%d%n",
                name,
                rows / seconds / 1e9,
                sum(futures, r -> r[1]));
        engines.forEach(JoinEngine::close);
    }

    private static long sum(List<Future<long[]>> futures, ToLongFunction<long[]> value)
            throws Exception {
        long sum = 0;
        for (Future<long[]> future : futures) {
            sum += value.applyAsLong(future.get());
        }
        return sum;
    }

    private JoinEngine engine(JoinSpec spec) {
        JoinEngine engine = factory.create(spec);
        ChunkBuilder builder = new ChunkBuilder(DATE.schema(), DAYS * 8);
        for (int day = 0; day < DAYS; day++) {
            builder.putInt(0, day);
            builder.putInt(1, 1992 + day / 366);
            builder.endRow();
        }
        engine.submitBuild(0, builder.seal(0, ChunkDescriptor.UNPARTITIONED, 0, 0));
        engine.finishBuild();
        return engine;
    }

    /** Number of probed rows, and of reads of the groups. */
    private long[] probe(JoinEngine engine) {
        long end = System.nanoTime() + caseNs;
        int next = 0;
        long takes = 0;
        while (System.nanoTime() < end || engine.inFlightCount() > 0) {
            while (System.nanoTime() < end && engine.submitProbe(probes.get(next), 0)) {
                next = (next + 1) % probes.size();
            }
            if (engine.poll() == null && engine.awaitsDrain()) {
                engine.drainGroups();
                takes++;
            }
        }
        return new long[] {engine.stats().probeRows(), takes};
    }
}
