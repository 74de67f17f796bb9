// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.gpu;

import io.github.gpujoin.benchmarks.workload.JoinAnswer;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.kernels.gpu.GpuOptions;
import io.github.gpujoin.kernels.gpu.SegmentFeed;
import io.github.gpujoin.kernels.gpu.SegmentReplay;
import io.github.gpujoin.kernels.gpu.StepOutput;
import io.github.gpujoin.kernels.gpu.TableSpread;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;

/**
 * Upload and build of the tables of a partitioned dimension on all devices, by as many threads as a
 * job has subtasks, each with the chunks of its partitions on the heap. Cooperative: each build row
 * crosses one bus, and each device inserts the rows of its shards. Redundant, without peer access:
 * each device receives and inserts all rows.
 */
final class GroupBuildBench {

    private static final int TUPLE_BYTES = 16;
    private static final List<ColumnType> PAYLOADS = List.of(ColumnType.INT32, ColumnType.INT64);
    private static final int LOG2_BUILD_ROWS = 29;
    private static final int CHECKED_CHUNKS = 8;
    private static final long SEED = 11;

    /** What a thread builds. */
    private record Partition(SegmentReplay replay, List<Chunk> chunks) implements Callable<Long> {

        /** Returns the time of the last step, from the last row on. */
        @Override
        public Long call() {
            chunks.forEach(chunk -> replay.submitBuild(0, chunk));
            long sentNs = System.nanoTime();
            replay.finishBuild();
            return System.nanoTime() - sentNs;
        }
    }

    private final GpuRun run;
    private final int devices;
    private final int threads;
    private final RingWorkload workload;
    private final List<List<Chunk>> chunks = new ArrayList<>();

    /**
     * @param threads that build at the same time
     */
    GroupBuildBench(GpuRun run, int devices, int threads) {
        this.run = run;
        this.devices = devices;
        this.threads = threads;
        int rows = run.rows(LOG2_BUILD_ROWS) / threads;
        this.workload = new RingWorkload(TUPLE_BYTES, PAYLOADS, rows, 1);
        run.progress().accept("making build rows of " + threads + " threads");
        for (int thread = 0; thread < threads; thread++) {
            chunks.add(workload.buildChunks());
        }
    }

    /** Measures both kinds and both spreads in turn. */
    List<Figure> run() throws Exception {
        List<Case> cases = new ArrayList<>();
        cases.add(new Case(false, TableSpread.REPLICATED));
        cases.add(new Case(true, TableSpread.REPLICATED));
        cases.add(new Case(true, TableSpread.SHARDED));
        for (int round = 0; round <= GpuBench.ROUNDS; round++) {
            for (Case each : cases) {
                each.measure(round);
            }
        }
        return cases.stream().map(Case::figure).toList();
    }

    private final class Case {

        private final boolean cooperative;
        private final TableSpread spread;
        private final List<Double> seconds = new ArrayList<>();
        private double insertS;
        private boolean isCorrect = true;
        private long count;

        Case(boolean cooperative, TableSpread spread) {
            this.cooperative = cooperative;
            this.spread = spread;
        }

        /** Round 0 warms up. */
        void measure(int round) throws Exception {
            GpuOptions options =
                    run.options()
                            .withDevices(IntStream.range(0, devices).boxed().toList())
                            .withPeerAccess(cooperative)
                            .withSpread(spread);
            List<SegmentReplay> replays = new ArrayList<>();
            ExecutorService pool = Executors.newFixedThreadPool(threads);
            try {
                List<Partition> partitions = new ArrayList<>();
                for (List<Chunk> ofThread : chunks) {
                    SegmentReplay replay =
                            new SegmentReplay(workload.spec(), options, workload.allFactColumns());
                    replays.add(replay);
                    partitions.add(new Partition(replay, ofThread));
                }
                long startNs = System.nanoTime();
                long longestNs = 0;
                for (Future<Long> built : pool.invokeAll(partitions)) {
                    longestNs = Math.max(longestNs, built.get());
                }
                if (round > 0) {
                    seconds.add((System.nanoTime() - startNs) / 1e9);
                    insertS = longestNs / 1e9;
                }
                check(replays.get(round % threads));
            } finally {
                pool.shutdownNow();
                replays.forEach(SegmentReplay::close);
            }
        }

        /** Joins facts on every device. */
        private void check(SegmentReplay replay) {
            RingWorkload.Facts facts = workload.facts(CHECKED_CHUNKS, RingBench.CHUNK_ROWS, SEED);
            RingMeter.Work work =
                    new RingMeter.Work(facts.chunks(), facts.expected(), workload::answerOf);
            for (int member = 0; member < devices; member++) {
                try (SegmentFeed feed =
                        replay.feed(
                                member, work.facts(), CHECKED_CHUNKS, StepOutput.PLAIN_RESULTS)) {
                    JoinAnswer[] answer = {JoinAnswer.NOTHING};
                    feed.serveOnce(
                            batch -> answer[0] = answer[0].plus(work.answerOf().apply(batch)));
                    isCorrect &= answer[0].equals(work.expected());
                    count = answer[0].count();
                }
            }
        }

        Figure figure() {
            Figure figure =
                    Figure.of(
                                    GroupBench.BUILD,
                                    Figure.parameters(
                                            "devices", devices,
                                            "cooperative", cooperative,
                                            "spread", spread.name().toLowerCase(Locale.ROOT),
                                            "build_rows", (long) threads * workload.buildRows(),
                                            "threads", threads,
                                            "insert_s", insertS),
                                    "s",
                                    seconds)
                            .checked(isCorrect, count, null);
            run.progress().accept(figure.line());
            return figure;
        }
    }
}
