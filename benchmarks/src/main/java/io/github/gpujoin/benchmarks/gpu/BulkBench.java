// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.gpu;

import io.github.gpujoin.benchmarks.local.BulkQuery;
import io.github.gpujoin.benchmarks.workload.JoinAnswer;
import io.github.gpujoin.benchmarks.workload.TupleSchemas;
import io.github.gpujoin.core.bulk.BulkJoinState;
import io.github.gpujoin.core.bulk.BulkResult;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.kernels.gpu.BulkWait;
import io.github.gpujoin.kernels.gpu.GpuBulkJoin;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Bulk joins of chunks in host memory through their Java class, 2^27 x 2^29 tuples of 16 bytes on
 * the full-sized machine, and 2^25 x 2^27 tuples with keys of several types. The figure is the rate
 * of the kernels that partition and find all pairs of row numbers; parameters have the time of the
 * rest: loading, and reading results.
 */
final class BulkBench implements GpuBench {

    static final String NAME = "bulk-join";

    private static final long POLL_NS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final int ROUNDS_WITHOUT_RESULTS = 2;

    @Override
    public List<Figure> run(GpuRun run) throws Exception {
        List<Figure> figures = new ArrayList<>();
        for (double zipf : new double[] {0, 1.0, 1.5}) {
            BulkTuples tuples = BulkTuples.random(run.rows(27), run.rows(29), zipf);
            for (BulkQuery query : new BulkQuery[] {BulkQuery.ROWS, BulkQuery.SUMS}) {
                figures.add(new Case(run, tuples, query).measure());
            }
        }
        for (BulkKey key : BulkKey.values()) {
            BulkTuples tuples = BulkTuples.random(key, run.rows(25), run.rows(27), 0);
            figures.add(new Case(run, tuples, BulkQuery.ROWS).measure());
        }
        BulkTuples ordered = BulkTuples.ordered(run.rows(27), run.rows(29));
        figures.add(new Case(run, ordered, BulkQuery.ROWS).measure());
        return figures;
    }

    /** Returns the time that a join has waited, by the ordinal of {@link BulkWait}. */
    static long[] waitedNs(GpuBulkJoin join) {
        return Arrays.stream(BulkWait.values()).mapToLong(join::waitedNs).toArray();
    }

    /** Adds a parameter for each kind of wait. */
    static void addWaits(Map<String, Object> parameters, long[] waitedNs) {
        for (BulkWait wait : BulkWait.values()) {
            String name = wait.name().toLowerCase(Locale.ROOT) + "_wait_s";
            parameters.put(name, waitedNs[wait.ordinal()] / 1e9);
        }
    }

    /** One case. */
    private static final class Case {

        private final GpuRun run;
        private final BulkTuples tuples;
        private final BulkQuery query;
        private final List<Double> rates = new ArrayList<>();
        private double loadS;
        private double finishS;
        private double resultsS;
        private long resultBytes;
        private long[] waitedNs = new long[BulkWait.values().length];
        private JoinAnswer answer = JoinAnswer.NOTHING;

        Case(GpuRun run, BulkTuples tuples, BulkQuery query) {
            this.run = run;
            this.tuples = tuples;
            this.query = query;
        }

        Figure measure() throws Exception {
            // the first round, of which the answer is checked, also warms up
            round(true);
            rates.clear();
            for (int i = 0; i < ROUNDS_WITHOUT_RESULTS; i++) {
                round(query != BulkQuery.ROWS);
            }
            double inputBytes =
                    TupleSchemas.TUPLE_BYTES * (tuples.buildRows() + (double) tuples.probeRows());
            Map<String, Object> parameters =
                    Figure.parameters(
                            "algorithm",
                            tuples.isOrdered() ? "sort-merge" : "resident",
                            "devices",
                            1,
                            "build_rows",
                            tuples.buildRows(),
                            "probe_rows",
                            tuples.probeRows(),
                            "key",
                            tuples.key().label(),
                            "zipf",
                            tuples.zipf(),
                            "query",
                            query.name().toLowerCase(Locale.ROOT),
                            "load_s",
                            loadS,
                            "finish_s",
                            finishS,
                            "results_s",
                            resultsS,
                            "load_gb_s",
                            inputBytes / loadS / 1e9,
                            "results_gb_s",
                            resultBytes / resultsS / 1e9);
            addWaits(parameters, waitedNs);
            Figure figure =
                    Figure.of(NAME, parameters, "Gtuples/s", rates)
                            .checked(
                                    answer.equals(tuples.expected()),
                                    answer.count(),
                                    answer.checksum());
            run.progress().accept(figure.line());
            return figure;
        }

        private void round(boolean readsAll) throws Exception {
            long startNs = System.nanoTime();
            try (GpuBulkJoin join =
                    new GpuBulkJoin(
                            query.spec(tuples.key().input("build"), tuples.key().input("probe")),
                            run.options(),
                            MemoryReservations.unlimited(),
                            null)) {
                for (Chunk chunk : tuples.build()) {
                    join.submit(JoinSide.LEFT, chunk);
                }
                for (Chunk chunk : tuples.probe()) {
                    join.submit(JoinSide.RIGHT, chunk);
                }
                long loadedNs = System.nanoTime();
                join.finish();
                long finishedNs = System.nanoTime();
                BulkResult first = join.poll(POLL_NS);
                JoinAnswer sum = query.answer(first);
                double rows = tuples.buildRows() + (double) tuples.probeRows();
                rates.add(rows / join.kernelNs());
                if (!readsAll) {
                    return;
                }
                resultBytes = bytes(first);
                while (join.state() == BulkJoinState.JOINING) {
                    @Nullable BulkResult result = join.poll(POLL_NS);
                    sum = sum.plus(query.answer(result));
                    resultBytes += bytes(result);
                }
                answer = sum;
                loadS = (loadedNs - startNs) / 1e9;
                finishS = (finishedNs - loadedNs) / 1e9;
                resultsS = (System.nanoTime() - finishedNs) / 1e9;
                waitedNs = waitedNs(join);
            }
        }

        private static long bytes(@Nullable BulkResult result) {
            return result instanceof BulkResult.Rows rows ? rows.chunk().lengthBytes() : 0;
        }
    }
}
