// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.gpu;

import io.github.gpujoin.benchmarks.local.BulkQuery;
import io.github.gpujoin.benchmarks.workload.JoinAnswer;
import io.github.gpujoin.core.bulk.BulkAlgorithm;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.bulk.BulkJoinState;
import io.github.gpujoin.core.bulk.BulkOutput;
import io.github.gpujoin.core.bulk.BulkResult;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.kernels.gpu.BulkWait;
import io.github.gpujoin.kernels.gpu.GpuBulkJoin;
import io.github.gpujoin.kernels.gpu.GpuOptions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** A bulk join of chunks in host memory, on the first devices of the machine. */
final class BulkCase {

    private static final long POLL_NS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final int ROUNDS_WITHOUT_RESULTS = 2;

    private final GpuRun run;
    private final BulkTuples tuples;

    /** Null if pairs are only counted. */
    private final @Nullable BulkQuery query;

    private final int devices;
    private final List<Double> rates = new ArrayList<>();
    private String algorithm = "";
    private double loadS;
    private double loadKernelsS;
    private double finishS;
    private double resultsS;
    private long resultBytes;
    private long[] waitedNs = new long[BulkWait.values().length];
    private JoinAnswer answer = JoinAnswer.NOTHING;

    private BulkCase(GpuRun run, BulkTuples tuples, @Nullable BulkQuery query, int devices) {
        this.run = run;
        this.tuples = tuples;
        this.query = query;
        this.devices = devices;
    }

    /** Returns a case of one device. */
    static BulkCase of(GpuRun run, BulkTuples tuples, BulkQuery query) {
        return new BulkCase(run, tuples, query, 1);
    }

    /**
     * Returns a case of several devices that adds up all results, since the kernels of all devices
     * have ended only then.
     */
    static BulkCase ofSums(GpuRun run, BulkTuples tuples, int devices) {
        return new BulkCase(run, tuples, BulkQuery.SUMS, devices);
    }

    /** Returns a case of several devices that only count pairs. */
    static BulkCase ofCount(GpuRun run, BulkTuples tuples, int devices) {
        return new BulkCase(run, tuples, null, devices);
    }

    Figure measure() throws Exception {
        // the first round, of which the answer is checked, also warms up
        round(true);
        rates.clear();
        for (int i = 0; i < ROUNDS_WITHOUT_RESULTS; i++) {
            round(query != BulkQuery.ROWS);
        }
        Map<String, Object> parameters =
                Figure.parameters(
                        "algorithm",
                        algorithm,
                        "devices",
                        devices,
                        "build_rows",
                        tuples.buildRows(),
                        "probe_rows",
                        tuples.probeRows(),
                        "key",
                        tuples.key().label(),
                        "zipf",
                        tuples.zipf(),
                        "query",
                        query == null ? "count" : query.name().toLowerCase(Locale.ROOT),
                        "load_s",
                        loadS,
                        "load_gb_s",
                        inputBytes() / loadS / 1e9,
                        "load_kernels_s",
                        loadKernelsS,
                        "finish_s",
                        finishS,
                        "results_s",
                        resultsS,
                        "results_gb_s",
                        resultBytes / resultsS / 1e9);
        addWaits(parameters, waitedNs);
        Figure figure =
                Figure.of(BulkBench.NAME, parameters, "Gtuples/s", rates)
                        .checked(answer.equals(expected()), answer.count(), answer.checksum());
        run.progress().accept(figure.line());
        return figure;
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

    private double inputBytes() {
        double rows = tuples.buildRows() + (double) tuples.probeRows();
        return tuples.key().rowBytes() * rows;
    }

    private BulkJoinSpec spec() {
        BulkQuery base = query == null ? BulkQuery.ROWS : query;
        BulkJoinSpec pairs = base.spec(tuples.key().input("build"), tuples.key().input("probe"));
        if (query != null) {
            return pairs;
        }
        return new BulkJoinSpec(
                pairs.left(), pairs.right(), pairs.kind(), false, new BulkOutput.Count());
    }

    private JoinAnswer answer(@Nullable BulkResult result) {
        if (query != null) {
            return query.answer(result);
        }
        return result instanceof BulkResult.Count count
                ? new JoinAnswer(count.rows(), 0)
                : JoinAnswer.NOTHING;
    }

    private JoinAnswer expected() {
        return query == null ? new JoinAnswer(tuples.expected().count(), 0) : tuples.expected();
    }

    private GpuOptions options() {
        return run.options().withDevices(IntStream.range(0, devices).boxed().toList());
    }

    /** Returns the names of figures before there were groups. */
    private static String algorithm(BulkAlgorithm algorithm) {
        return switch (algorithm) {
            case GPU_RADIX -> "resident";
            case GPU_MERGE -> "sort-merge";
            default -> algorithm.label().replaceFirst("^gpu-", "");
        };
    }

    private void round(boolean readsAll) throws Exception {
        long startNs = System.nanoTime();
        try (GpuBulkJoin join =
                new GpuBulkJoin(spec(), options(), MemoryReservations.unlimited(), null)) {
            for (Chunk chunk : tuples.build()) {
                join.submit(JoinSide.LEFT, chunk);
            }
            for (Chunk chunk : tuples.probe()) {
                join.submit(JoinSide.RIGHT, chunk);
            }
            long loadedNs = System.nanoTime();
            long loadKernelsNs = join.kernelNs();
            join.finish();
            algorithm = algorithm(join.plan().algorithm());
            long finishedNs = System.nanoTime();
            @Nullable BulkResult first = join.poll(POLL_NS);
            JoinAnswer sum = answer(first);
            if (query == BulkQuery.ROWS) {
                addRate(join, loadKernelsNs);
            }
            if (!readsAll) {
                return;
            }
            resultBytes = bytes(first);
            while (join.state() == BulkJoinState.JOINING) {
                @Nullable BulkResult result = join.poll(POLL_NS);
                sum = sum.plus(answer(result));
                resultBytes += bytes(result);
            }
            if (query != BulkQuery.ROWS) {
                addRate(join, loadKernelsNs);
            }
            answer = sum;
            loadS = (loadedNs - startNs) / 1e9;
            loadKernelsS = loadKernelsNs / 1e9;
            finishS = (finishedNs - loadedNs) / 1e9;
            resultsS = (System.nanoTime() - finishedNs) / 1e9;
            waitedNs = waitedNs(join);
        }
    }

    private static long bytes(@Nullable BulkResult result) {
        return result instanceof BulkResult.Rows rows ? rows.chunk().lengthBytes() : 0;
    }

    /**
     * Called before kernels have read the columns of all pairs, or after they have added up all.
     * Kernels that ran while the inputs were loaded do not count: copies hide them.
     */
    private void addRate(GpuBulkJoin join, long loadKernelsNs) {
        double rows = tuples.buildRows() + (double) tuples.probeRows();
        rates.add(rows / (join.kernelNs() - loadKernelsNs));
    }
}
