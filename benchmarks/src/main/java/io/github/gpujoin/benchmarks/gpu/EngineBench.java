// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.gpu;

import io.github.gpujoin.benchmarks.join.Summary;
import io.github.gpujoin.benchmarks.workload.JoinAnswer;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.kernels.gpu.GpuJoinEngine;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/**
 * The whole engine, with threads that hand facts in and take results out, a fork of the engine
 * each: its rate, and how long one small chunk takes from submit to result.
 */
final class EngineBench implements GpuBench {

    static final String RATE = "engine";
    static final String LATENCY = "engine-latency";

    private static final int LOG2_BUILD_ROWS = 24;
    private static final int CHUNK_ROWS = 64 << 10;
    private static final int CHUNKS = 64;
    private static final int LAPS_PER_ROUND = 16;
    private static final int SMALL_CHUNK_ROWS = 512;
    private static final int SMALL_CHUNKS = 256;
    private static final int SAMPLES = 4096;
    private static final long SEED = 3;

    @Override
    public List<Figure> run(GpuRun run) throws Exception {
        List<Figure> figures = new ArrayList<>();
        for (int matches : new int[] {1, 4}) {
            RingWorkload workload =
                    new RingWorkload(
                            16, List.of(ColumnType.INT64), run.rows(LOG2_BUILD_ROWS), matches);
            try (GpuJoinEngine engine = new GpuJoinEngine(workload.spec(), run.options())) {
                workload.build(chunk -> engine.submitBuild(0, chunk));
                engine.finishBuild();
                figures.add(rate(run, engine, workload, 1));
                if (matches == 1) {
                    figures.add(latency(run, engine, workload));
                    for (int threads : new int[] {2, 4, 8}) {
                        figures.add(rate(run, engine, workload, threads));
                    }
                }
            }
        }
        return figures;
    }

    private static Figure rate(GpuRun run, GpuJoinEngine engine, RingWorkload workload, int threads)
            throws Exception {
        RingWorkload.Facts facts = workload.facts(CHUNKS, CHUNK_ROWS, SEED);
        JoinAnswer answer = join(engine, facts.chunks(), 1, workload);
        boolean right = answer.equals(facts.expected());
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        List<GpuJoinEngine> forks = new ArrayList<>();
        List<Double> rounds = new ArrayList<>();
        try {
            for (int thread = 0; thread < threads; thread++) {
                forks.add(engine.fork());
            }
            for (int round = 0; round <= ROUNDS; round++) {
                long startNs = System.nanoTime();
                long results = joinAll(pool, forks, facts.chunks());
                long laps = (long) threads * LAPS_PER_ROUND;
                if (round > 0) {
                    long rows = laps * CHUNKS * CHUNK_ROWS;
                    rounds.add((double) rows / (System.nanoTime() - startNs));
                }
                right &= results == laps * facts.expected().count();
            }
        } finally {
            forks.forEach(GpuJoinEngine::close);
            pool.shutdownNow();
        }
        Map<String, Object> parameters =
                Figure.parameters(
                        "build_rows",
                        workload.buildRows(),
                        "chunk_rows",
                        CHUNK_ROWS,
                        "matches",
                        workload.copies(),
                        "threads",
                        threads);
        Figure figure = Figure.of(RATE, parameters, "Grows/s", rounds);
        run.progress().accept(figure.line());
        double bytesOut = (double) workload.resultRowBytes() * workload.copies();
        return run.ceilings()
                .bound(figure, run.options().ringMemory(), Long.BYTES, bytesOut)
                .checked(right, answer.count(), answer.checksum());
    }

    /** All chunks with every fork, a thread each; returns how many results came. */
    private static long joinAll(ExecutorService pool, List<GpuJoinEngine> forks, List<Chunk> chunks)
            throws Exception {
        List<Callable<Long>> shares = new ArrayList<>();
        for (GpuJoinEngine fork : forks) {
            shares.add(() -> join(fork, chunks, LAPS_PER_ROUND, null).count());
        }
        long results = 0;
        for (Future<Long> share : pool.invokeAll(shares)) {
            results += share.get();
        }
        return results;
    }

    /**
     * Joins all chunks some times over.
     *
     * @param reader of the results' content; null counts rows only
     */
    private static JoinAnswer join(
            GpuJoinEngine engine, List<Chunk> chunks, int laps, @Nullable RingWorkload reader) {
        JoinAnswer answer = JoinAnswer.NOTHING;
        for (int lap = 0; lap < laps; lap++) {
            for (Chunk chunk : chunks) {
                while (!engine.submitProbe(chunk, 0)) {
                    answer = answer.plus(poll(engine, reader));
                }
            }
        }
        while (engine.inFlightCount() > 0) {
            answer = answer.plus(poll(engine, reader));
        }
        return answer;
    }

    private static JoinAnswer poll(GpuJoinEngine engine, RingWorkload reader) {
        ResultBatch batch = engine.poll();
        if (batch == null) {
            return JoinAnswer.NOTHING;
        }
        return reader == null ? new JoinAnswer(batch.rowCount(), 0) : reader.answerOf(batch);
    }

    private static Figure latency(GpuRun run, GpuJoinEngine engine, RingWorkload workload) {
        run.progress().accept("measuring " + LATENCY);
        RingWorkload.Facts facts = workload.facts(SMALL_CHUNKS, SMALL_CHUNK_ROWS, SEED);
        List<Double> medians = new ArrayList<>();
        List<Double> tails = new ArrayList<>();
        JoinAnswer answer = JoinAnswer.NOTHING;
        for (int round = 0; round <= ROUNDS; round++) {
            long[] sampleNs = new long[SAMPLES];
            for (int i = 0; i < SAMPLES; i++) {
                Chunk chunk = facts.chunks().get(i % SMALL_CHUNKS);
                long startNs = System.nanoTime();
                ResultBatch batch = engine.submitProbe(chunk, 0) ? engine.poll() : null;
                while (batch == null) {
                    batch = engine.poll();
                }
                sampleNs[i] = System.nanoTime() - startNs;
                if (round == ROUNDS && i < SMALL_CHUNKS) {
                    answer = answer.plus(workload.answerOf(batch));
                }
            }
            if (round > 0) {
                Arrays.sort(sampleNs);
                medians.add(sampleNs[SAMPLES / 2] / 1e3);
                tails.add(sampleNs[SAMPLES * 99 / 100] / 1e3);
            }
        }
        Map<String, Object> parameters =
                Figure.parameters(
                        "chunk_rows", SMALL_CHUNK_ROWS, "p99_us", Summary.of(tails).median());
        return Figure.of(LATENCY, parameters, "us", medians)
                .checked(answer.equals(facts.expected()), answer.count(), answer.checksum());
    }
}
