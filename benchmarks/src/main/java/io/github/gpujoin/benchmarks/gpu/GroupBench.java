// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.gpu;

import io.github.gpujoin.benchmarks.join.Summary;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.kernels.binding.CudaDrivers;
import io.github.gpujoin.kernels.gpu.GpuOptions;
import io.github.gpujoin.kernels.gpu.JoinShare;
import io.github.gpujoin.kernels.gpu.SegmentFeed;
import io.github.gpujoin.kernels.gpu.SegmentReplay;
import io.github.gpujoin.kernels.gpu.StepOutput;
import io.github.gpujoin.kernels.gpu.TableSpread;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;

/**
 * One device against all devices of the host: facts from pinned rings against replicated and
 * sharded tables, and facts of skewed partitions; and several joins at once on one device. Matches
 * are counted, so that reading bounds the rate.
 */
final class GroupBench implements GpuBench {

    static final String RING = "group-ring-probe";
    static final String SKEW = "group-skew";
    static final String BUILD = "group-build";
    static final String CONCURRENT = "concurrent";
    static final String FLINK = "group-flink-star-join";

    private static final int TUPLE_BYTES = 16;
    private static final List<ColumnType> PAYLOADS = List.of(ColumnType.INT32, ColumnType.INT64);
    private static final int LOG2_BUILD_ROWS = 27;
    private static final int LOG2_SHARDED_ROWS = 29;
    private static final int LOG2_SKEWED_ROWS = 24;
    private static final int PARTITIONS = 64;
    private static final int JOINS = 4;
    private static final List<Double> WEIGHTS = List.of(1.0, 1.0, 2.0, 4.0);

    /** Rows of the segments of each weighted join: 64 KiB, 512 KiB, 256 KiB and 128 KiB. */
    private static final List<Integer> WEIGHTED_ROWS =
            List.of(4 << 10, 32 << 10, 16 << 10, 8 << 10);

    private static final long ROUND_NS = 200_000_000L;
    private static final long SEED = 7;

    /** What a thread serves in a round. */
    private record Share(SegmentFeed feed) implements Callable<SegmentFeed.Served> {
        @Override
        public SegmentFeed.Served call() {
            return feed.serve(ROUND_NS);
        }
    }

    private final List<Figure> figures = new ArrayList<>();

    @Override
    public List<Figure> run(GpuRun run) throws Exception {
        int devices = CudaDrivers.deviceCount();
        for (int count : devices == 1 ? new int[] {1} : new int[] {1, devices}) {
            measure(run, count, TableSpread.REPLICATED, LOG2_BUILD_ROWS);
            if (count > 1) {
                measure(run, count, TableSpread.SHARDED, LOG2_BUILD_ROWS);
                measure(run, count, TableSpread.SHARDED, LOG2_SHARDED_ROWS);
            }
            measureSkew(run, count);
        }
        for (int joins : new int[] {1, JOINS}) {
            measureConcurrent(
                    run,
                    Collections.nCopies(joins, 1.0),
                    Collections.nCopies(joins, RingBench.CHUNK_ROWS),
                    Figure.parameters("joins", joins));
        }
        measureConcurrent(
                run,
                WEIGHTS,
                WEIGHTED_ROWS,
                Figure.parameters("joins", WEIGHTS.size(), "weights", "1,1,2,4"));
        if (devices > 1) {
            int threads = Math.max(1, Runtime.getRuntime().availableProcessors() / 2);
            figures.addAll(new GroupBuildBench(run, devices, threads).run());
            figures.addAll(FlinkBench.groups(run, FLINK, devices));
        }
        return figures;
    }

    private static GpuOptions options(GpuRun run, int devices, TableSpread spread) {
        return run.options()
                .withDevices(IntStream.range(0, devices).boxed().toList())
                .withSpread(spread);
    }

    private void measure(GpuRun run, int devices, TableSpread spread, int log2Rows)
            throws Exception {
        RingWorkload workload = new RingWorkload(TUPLE_BYTES, PAYLOADS, run.rows(log2Rows), 1);
        Map<String, Object> parameters =
                Figure.parameters(
                        "devices", devices,
                        "spread", spread.name().toLowerCase(Locale.ROOT),
                        "build_rows", workload.buildRows());
        run.progress().accept("building " + workload + " " + parameters);
        GpuOptions options = options(run, devices, spread);
        try (SegmentReplay replay =
                new SegmentReplay(workload.spec(), options, workload.allFactColumns())) {
            figures.add(build(workload, parameters, replay));
            RingMeter meter = new RingMeter(run, replay);
            RingWorkload.Facts facts =
                    workload.facts(
                            meter.chunks(RingBench.CHUNK_ROWS, 1), RingBench.CHUNK_ROWS, SEED);
            RingMeter.Work work =
                    new RingMeter.Work(facts.chunks(), facts.expected(), workload::answerOf);
            serve(run, RING, parameters, feeds(replay, meter, devices, work), devices, work);
        }
    }

    /** Uploads and builds a table by one thread, whose copies to pinned memory bound it. */
    private static Figure build(
            RingWorkload workload, Map<String, Object> parameters, SegmentReplay replay) {
        List<Chunk> chunks = workload.buildChunks();
        long startNs = System.nanoTime();
        chunks.forEach(chunk -> replay.submitBuild(0, chunk));
        long sentNs = System.nanoTime();
        replay.finishBuild();
        long endNs = System.nanoTime();
        Map<String, Object> all = new LinkedHashMap<>(parameters);
        all.put("threads", 1);
        all.put("insert_s", (endNs - sentNs) / 1e9);
        all.put("table_bytes", replay.tableBytes());
        return Figure.of(BUILD, all, "s", List.of((endNs - startNs) / 1e9));
    }

    private void measureSkew(GpuRun run, int devices) throws Exception {
        RingWorkload workload =
                new RingWorkload(
                        TUPLE_BYTES, List.of(ColumnType.INT64), run.rows(LOG2_SKEWED_ROWS), 1);
        GpuOptions options = options(run, devices, TableSpread.SHARDED);
        try (SegmentReplay replay =
                new SegmentReplay(workload.spec(), options, workload.allFactColumns())) {
            workload.build(chunk -> replay.submitBuild(0, chunk));
            replay.finishBuild();
            RingMeter meter = new RingMeter(run, replay);
            for (double zipf : new double[] {0, 1.5}) {
                RingWorkload.Facts facts =
                        workload.partitionedFacts(
                                meter.chunks(RingBench.CHUNK_ROWS, 1),
                                RingBench.CHUNK_ROWS,
                                PARTITIONS,
                                zipf,
                                SEED);
                RingMeter.Work work =
                        new RingMeter.Work(facts.chunks(), facts.expected(), workload::answerOf);
                Map<String, Object> parameters =
                        Figure.parameters("devices", devices, "spread", "sharded", "zipf", zipf);
                serve(run, SKEW, parameters, feeds(replay, meter, devices, work), devices, work);
            }
        }
    }

    private static List<SegmentFeed> feeds(
            SegmentReplay replay, RingMeter meter, int devices, RingMeter.Work work) {
        return IntStream.range(0, devices)
                .mapToObj(
                        member ->
                                replay.feed(
                                        member,
                                        work.facts(),
                                        meter.inFlight(work.chunkRows()),
                                        StepOutput.COUNT))
                .toList();
    }

    /** Joins with tables and plans of their own on the first device. */
    private void measureConcurrent(
            GpuRun run,
            List<Double> weights,
            List<Integer> segmentRows,
            Map<String, Object> parameters)
            throws Exception {
        RingWorkload workload =
                new RingWorkload(TUPLE_BYTES, PAYLOADS, run.rows(LOG2_SKEWED_ROWS), 1);
        List<SegmentReplay> replays = new ArrayList<>();
        try {
            List<SegmentFeed> feeds = new ArrayList<>();
            List<RingMeter.Work> works = new ArrayList<>();
            for (int join = 0; join < weights.size(); join++) {
                GpuOptions options =
                        run.options().withShare(new JoinShare(null, weights.get(join)));
                SegmentReplay replay =
                        new SegmentReplay(workload.spec(), options, workload.allFactColumns());
                replays.add(replay);
                workload.build(chunk -> replay.submitBuild(0, chunk));
                replay.finishBuild();
                RingMeter meter = new RingMeter(run, replay);
                int rows = segmentRows.get(join);
                if (join == 0 || rows != segmentRows.get(join - 1)) {
                    RingWorkload.Facts facts = workload.facts(meter.chunks(rows, 1), rows, SEED);
                    works.add(
                            new RingMeter.Work(
                                    facts.chunks(), facts.expected(), workload::answerOf));
                } else {
                    works.add(works.get(join - 1));
                }
                feeds.add(meter.feed(works.get(join), StepOutput.COUNT));
            }
            serve(run, CONCURRENT, parameters, feeds, 1, works, weights);
        } finally {
            replays.forEach(SegmentReplay::close);
        }
    }

    /** Serves feeds of one work and equal weights. */
    private void serve(
            GpuRun run,
            String name,
            Map<String, Object> parameters,
            List<SegmentFeed> feeds,
            int devices,
            RingMeter.Work work)
            throws Exception {
        serve(
                run,
                name,
                parameters,
                feeds,
                devices,
                Collections.nCopies(feeds.size(), work),
                Collections.nCopies(feeds.size(), 1.0));
    }

    /**
     * Serves all feeds at the same time, a thread each, and closes them. Before each round of all,
     * the first one is served alone, since the rate of a bus varies from second to second.
     */
    private void serve(
            GpuRun run,
            String name,
            Map<String, Object> parameters,
            List<SegmentFeed> feeds,
            int devices,
            List<RingMeter.Work> works,
            List<Double> weights)
            throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(feeds.size());
        try {
            List<Double> alone = new ArrayList<>();
            List<Double> together = new ArrayList<>();
            double leastShare = Double.POSITIVE_INFINITY;
            for (int round = 0; round <= ROUNDS; round++) {
                double first = sum(rates(threads, feeds.subList(0, 1)));
                List<Double> rates = rates(threads, feeds);
                if (round > 0) {
                    alone.add(first);
                    together.add(sum(rates));
                    for (int i = 0; i < rates.size(); i++) {
                        double fair = sum(rates) * weights.get(i) / sum(weights);
                        leastShare = Math.min(leastShare, rates.get(i) / fair);
                    }
                }
            }
            Map<String, Object> all = new LinkedHashMap<>(parameters);
            if (feeds.size() > 1) {
                double one = Summary.of(alone).median();
                all.put("alone", one);
                all.put("times_alone", Summary.of(together).median() / one);
                all.put("least_share", leastShare);
            }
            Figure figure = Figure.of(name, all, "Grows/s", together);
            boolean right = true;
            for (int i = 0; i < feeds.size(); i++) {
                RingMeter.Work work = works.get(i);
                right &= RingMeter.checked(figure, feeds.get(i), work, StepOutput.COUNT).correct();
            }
            Figure bounded =
                    figure.boundedBy(
                                    Ceilings.READ,
                                    devices * run.ceilings().readGbPerS() / TUPLE_BYTES)
                            .checked(right, works.get(0).expected().count(), null);
            run.progress().accept(bounded.line());
            figures.add(bounded);
        } finally {
            threads.shutdownNow();
            feeds.forEach(SegmentFeed::close);
        }
    }

    private static List<Double> rates(ExecutorService threads, List<SegmentFeed> feeds)
            throws Exception {
        List<Double> rates = new ArrayList<>();
        for (Future<SegmentFeed.Served> served :
                threads.invokeAll(feeds.stream().map(Share::new).toList())) {
            rates.add((double) served.get().rows() / served.get().elapsedNs());
        }
        return rates;
    }

    private static double sum(List<Double> rates) {
        return rates.stream().mapToDouble(Double::doubleValue).sum();
    }
}
