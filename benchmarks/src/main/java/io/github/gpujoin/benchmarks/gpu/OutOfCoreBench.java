// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.gpu;

import io.github.gpujoin.benchmarks.local.BulkQuery;
import io.github.gpujoin.benchmarks.workload.JoinAnswer;
import io.github.gpujoin.benchmarks.workload.TupleSchemas;
import io.github.gpujoin.core.bulk.BulkJoinState;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.kernels.gpu.BulkWait;
import io.github.gpujoin.kernels.gpu.GpuBulkJoin;
import io.github.gpujoin.kernels.gpu.GpuOptions;
import io.github.gpujoin.kernels.gpu.MemoryBudget;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * Bulk joins of four times the device budget, 16-byte tuples in host memory, aggregated. The figure
 * is the rate of inputs until the last result. It is bounded by the bus, as measured in the same
 * run, if each byte crosses it in and out at once, and then in again.
 *
 * <p>The first round pins host memory, and the following ones use it again: an open join keeps the
 * device in between. One join copies with many threads. Several joins share the device, as subtasks
 * of a job do.
 */
final class OutOfCoreBench implements GpuBench {

    private static final long POLL_NS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final int EXCESS = 4;
    private static final int WARM_ROUNDS = 3;

    /** Seconds from the start of a round. */
    private record Times(double loadedS, double finishedS, double endS) {

        static final Times NONE = new Times(0, 0, 0);

        Times max(Times other) {
            return new Times(
                    Math.max(loadedS, other.loadedS),
                    Math.max(finishedS, other.finishedS),
                    Math.max(endS, other.endS));
        }
    }

    /** One join of a round. */
    private record Joined(Times times, long[] waitedNs, JoinAnswer answer) {}

    @Override
    public List<Figure> run(GpuRun run) throws Exception {
        BusMeter bus = BusMeter.measure(run.options().device());
        List<Figure> figures = new ArrayList<>();
        for (int joins : new int[] {1, 4, 8}) {
            figures.addAll(new Case(run, bus, joins).measure());
        }
        return figures;
    }

    /** One case. */
    private static final class Case {

        private final GpuRun run;
        private final BusMeter bus;
        private final int joins;
        private final BulkTuples tuples;
        private final double inputBytes;
        private final GpuOptions options;
        private boolean isRight = true;

        Case(GpuRun run, BusMeter bus, int joins) {
            this.run = run;
            this.bus = bus;
            this.joins = joins;
            int rows = run.rows(29) / joins;
            this.tuples = BulkTuples.random(rows, rows, 0);
            this.inputBytes = 2.0 * rows * joins * TupleSchemas.TUPLE_BYTES;
            long pinnedBytes = Math.round(2 * inputBytes);
            this.options =
                    run.options()
                            .withMemory(
                                    new MemoryBudget(
                                            (long) inputBytes / EXCESS, pinnedBytes, pinnedBytes));
        }

        List<Figure> measure() throws Exception {
            ExecutorService threads = Executors.newFixedThreadPool(joins);
            try (GpuBulkJoin keeper = open()) {
                return List.of(
                        round(threads, "cold", 1, keeper),
                        round(threads, "warm", WARM_ROUNDS, keeper));
            } finally {
                threads.shutdownNow();
            }
        }

        private GpuBulkJoin open() {
            return new GpuBulkJoin(
                    BulkQuery.SUMS.spec(tuples.key().input("build"), tuples.key().input("probe")),
                    options,
                    MemoryReservations.unlimited(),
                    null);
        }

        /**
         * @param keeper keeps the device open
         */
        private Figure round(ExecutorService threads, String kind, int rounds, GpuBulkJoin keeper)
                throws Exception {
            List<Double> rates = new ArrayList<>();
            Times times = Times.NONE;
            long[] waitedNs = new long[BulkWait.values().length];
            double roundS = 0;
            for (int round = 0; round < rounds; round++) {
                long startNs = System.nanoTime();
                List<Future<Joined>> results = new ArrayList<>();
                for (int i = 0; i < joins; i++) {
                    results.add(threads.submit(() -> join(startNs)));
                }
                times = Times.NONE;
                for (Future<Joined> result : results) {
                    Joined joined = result.get();
                    times = times.max(joined.times());
                    waitedNs = joined.waitedNs();
                    isRight &= joined.answer().equals(tuples.expected());
                }
                roundS = (System.nanoTime() - startNs) / 1e9;
                rates.add(inputBytes / times.endS() / 1e9);
            }
            double boundS = bus.outOfCoreS(inputBytes);
            Figure figure =
                    Figure.of(
                                    BulkBench.NAME,
                                    parameters(kind, times, roundS, waitedNs, boundS),
                                    "GB/s",
                                    rates)
                            .boundedBy("bus", inputBytes / boundS / 1e9)
                            .checked(
                                    isRight && keeper.state() == BulkJoinState.LOADING,
                                    tuples.expected().count(),
                                    tuples.expected().checksum());
            run.progress().accept(figure.line());
            return figure;
        }

        private Map<String, Object> parameters(
                String kind, Times times, double roundS, long[] waitedNs, double boundS) {
            Map<String, Object> parameters =
                    Figure.parameters(
                            "algorithm",
                            "out-of-core",
                            "devices",
                            1,
                            "joins",
                            joins,
                            "threads",
                            options.bulkThreads(),
                            "memory",
                            kind,
                            "input_bytes",
                            (long) inputBytes,
                            "device_budget_bytes",
                            options.memory().deviceBytes(),
                            "bus_bytes",
                            (long) (3 * inputBytes),
                            "bus_in_gb_s",
                            bus.inBytesPerS() / 1e9,
                            "bus_both_gb_s",
                            bus.bothBytesPerS() / 1e9,
                            "bound_s",
                            boundS,
                            "share_of_bound",
                            boundS / times.endS(),
                            "load_s",
                            times.loadedS(),
                            "finish_s",
                            times.finishedS() - times.loadedS(),
                            "results_s",
                            times.endS() - times.finishedS(),
                            "close_s",
                            roundS - times.endS());
            BulkCase.addWaits(parameters, waitedNs);
            return parameters;
        }

        private Joined join(long startNs) throws Exception {
            try (GpuBulkJoin join = open()) {
                for (Chunk chunk : tuples.build()) {
                    join.submit(JoinSide.LEFT, chunk);
                }
                for (Chunk chunk : tuples.probe()) {
                    join.submit(JoinSide.RIGHT, chunk);
                }
                double loadedS = (System.nanoTime() - startNs) / 1e9;
                join.finish();
                double finishedS = (System.nanoTime() - startNs) / 1e9;
                JoinAnswer answer = JoinAnswer.NOTHING;
                while (join.state() == BulkJoinState.JOINING) {
                    answer = answer.plus(BulkQuery.SUMS.answer(join.poll(POLL_NS)));
                }
                double endS = (System.nanoTime() - startNs) / 1e9;
                return new Joined(
                        new Times(loadedS, finishedS, endS), BulkCase.waitedNs(join), answer);
            }
        }
    }
}
