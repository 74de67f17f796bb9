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
import io.github.gpujoin.kernels.gpu.GpuBulkJoin;
import io.github.gpujoin.kernels.gpu.GpuOptions;
import io.github.gpujoin.kernels.gpu.MemoryBudget;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * Bulk joins of four times the device budget, 16-byte tuples in host memory, aggregated. One thread
 * submits the chunks of a join, so several joins share the device, as subtasks of a job do. The
 * figure is the rate of inputs; a parameter has its share of what the bus allows, if each byte
 * crosses it in, out, and in again, and both directions are used at once.
 */
final class OutOfCoreBench implements GpuBench {

    private static final long POLL_NS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final int EXCESS = 4;

    /** Bytes a second in each direction, of an H100 or H200 (PCIe 5.0 x16). */
    private static final double BUS_BYTES_PER_S = 55e9;

    /** Seconds from the first chunk to the last, to the end of finish(), and to the last result. */
    private record Times(double loadedS, double finishedS, double endS, JoinAnswer answer) {}

    @Override
    public List<Figure> run(GpuRun run) throws Exception {
        List<Figure> figures = new ArrayList<>();
        for (int joins : new int[] {1, 4, 8}) {
            figures.add(measure(run, joins));
        }
        return figures;
    }

    private static Figure measure(GpuRun run, int joins) throws Exception {
        int rows = (int) (run.rows(29) / joins);
        BulkTuples tuples = BulkTuples.random(rows, rows, 0);
        double inputBytes = 2.0 * rows * joins * TupleSchemas.TUPLE_BYTES;
        MemoryBudget budget =
                new MemoryBudget((long) inputBytes / EXCESS, Math.round(2 * inputBytes));
        GpuOptions options = run.options().withMemory(budget);
        ExecutorService threads = Executors.newFixedThreadPool(joins);
        try {
            List<Future<Times>> results = new ArrayList<>();
            long startNs = System.nanoTime();
            for (int i = 0; i < joins; i++) {
                results.add(threads.submit(() -> join(options, tuples)));
            }
            double loadedS = 0;
            double finishedS = 0;
            boolean isRight = true;
            for (Future<Times> result : results) {
                Times times = result.get();
                loadedS = Math.max(loadedS, times.loadedS());
                finishedS = Math.max(finishedS, times.finishedS());
                isRight &= times.answer().equals(tuples.expected());
            }
            double totalS = (System.nanoTime() - startNs) / 1e9;
            double boundS = 2 * inputBytes / BUS_BYTES_PER_S;
            Figure figure =
                    Figure.of(
                                    BulkBench.NAME,
                                    Figure.parameters(
                                            "algorithm",
                                            "out-of-core",
                                            "devices",
                                            1,
                                            "joins",
                                            joins,
                                            "input_bytes",
                                            (long) inputBytes,
                                            "device_budget_bytes",
                                            budget.deviceBytes(),
                                            "bus_bytes",
                                            (long) (3 * inputBytes),
                                            "load_s",
                                            loadedS,
                                            "finish_s",
                                            finishedS - loadedS,
                                            "results_s",
                                            totalS - finishedS,
                                            "bound_share",
                                            boundS / totalS),
                                    "GB/s",
                                    List.of(inputBytes / totalS / 1e9))
                            .checked(
                                    isRight,
                                    tuples.expected().count(),
                                    tuples.expected().checksum());
            run.progress().accept(figure.line());
            return figure;
        } finally {
            threads.shutdownNow();
        }
    }

    private static Times join(GpuOptions options, BulkTuples tuples) throws Exception {
        long startNs = System.nanoTime();
        try (GpuBulkJoin join =
                new GpuBulkJoin(
                        BulkQuery.SUMS.spec(), options, MemoryReservations.unlimited(), null)) {
            for (Chunk chunk : tuples.build()) {
                join.submit(JoinSide.LEFT, chunk);
            }
            for (Chunk chunk : tuples.probe()) {
                join.submit(JoinSide.RIGHT, chunk);
            }
            long loadedNs = System.nanoTime();
            join.finish();
            long finishedNs = System.nanoTime();
            JoinAnswer answer = JoinAnswer.NOTHING;
            while (join.state() == BulkJoinState.JOINING) {
                answer = answer.plus(BulkQuery.SUMS.answer(join.poll(POLL_NS)));
            }
            return new Times(
                    (loadedNs - startNs) / 1e9,
                    (finishedNs - startNs) / 1e9,
                    (System.nanoTime() - startNs) / 1e9,
                    answer);
        }
    }
}
