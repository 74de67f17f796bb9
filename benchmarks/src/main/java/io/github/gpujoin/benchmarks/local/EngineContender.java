// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.local;

import io.github.gpujoin.benchmarks.join.Contender;
import io.github.gpujoin.benchmarks.join.Measurement;
import io.github.gpujoin.benchmarks.workload.JoinAnswer;
import io.github.gpujoin.benchmarks.workload.TupleSchemas;
import io.github.gpujoin.benchmarks.workload.Tuples;
import io.github.gpujoin.core.encoding.PlainColumn;
import io.github.gpujoin.core.engine.EngineStats;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.cpu.CpuJoinEngine;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The CPU engine alone: built by one thread, probed by forks of it, one a thread. Chunks are handed
 * over as they are in memory. The quoted rate is over build and probe together, as is DuckDB's; the
 * details have both apart.
 */
public final class EngineContender implements Contender {

    private final Tuples tuples;
    private final int threads;
    private final ExecutorService pool;

    public EngineContender(Tuples tuples, int threads) {
        this.tuples = tuples;
        this.threads = threads;
        this.pool = Executors.newFixedThreadPool(threads);
    }

    @Override
    public String name() {
        return "ours-engine";
    }

    @Override
    public Measurement run() throws Exception {
        long startNs = System.nanoTime();
        try (CpuJoinEngine engine = new CpuJoinEngine(TupleSchemas.JOIN)) {
            tuples.build().forEach(chunk -> engine.submitBuild(0, chunk));
            engine.finishBuild();
            long builtNs = System.nanoTime();
            JoinAnswer answer = probe(engine);
            long endNs = System.nanoTime();
            long probeRows = Tuples.rowCount(tuples.probe());
            return new Measurement(
                    probeRows,
                    endNs - startNs,
                    answer,
                    tuples.expected(tuples.probe().size()),
                    details(engine.stats(), builtNs - startNs, endNs - builtNs, probeRows));
        }
    }

    private static Map<String, Long> details(
            EngineStats stats, long buildNs, long probeNs, long probeRows) {
        return Map.of(
                "build_us", buildNs / 1000,
                "probe_us", probeNs / 1000,
                "probe_only_tuples_per_second", Math.round(probeRows * 1e9 / probeNs),
                "build_bytes", stats.buildBytes(),
                "table_bytes", stats.tableBytes());
    }

    private @Nullable JoinAnswer probe(CpuJoinEngine engine) throws Exception {
        // Threads take a chunk at a time, as DuckDB's do, so that none waits for a slower one.
        List<Chunk> chunks = tuples.probe();
        AtomicInteger next = new AtomicInteger();
        Supplier<Chunk> source =
                () -> {
                    int claimed = next.getAndIncrement();
                    return claimed < chunks.size() ? chunks.get(claimed) : null;
                };
        List<Callable<JoinAnswer>> shares = new ArrayList<>();
        for (int thread = 0; thread < threads; thread++) {
            shares.add(
                    () -> {
                        try (CpuJoinEngine fork = engine.fork()) {
                            return probe(fork, source);
                        }
                    });
        }
        JoinAnswer answer = JoinAnswer.NOTHING;
        for (Future<JoinAnswer> share : pool.invokeAll(shares)) {
            answer = answer.plus(share.get());
        }
        return answer;
    }

    /** Joins the chunks that the source gives until it gives null, and sums up. */
    public static JoinAnswer probe(JoinEngine engine, Supplier<Chunk> source) {
        PlainColumn factPayloads = new PlainColumn(TupleSchemas.PAYLOAD);
        JoinAnswer answer = JoinAnswer.NOTHING;
        for (Chunk chunk = source.get(); chunk != null; chunk = source.get()) {
            while (!engine.submitProbe(chunk, 0)) {
                answer = answer.plus(next(engine, factPayloads));
            }
        }
        while (engine.inFlightCount() > 0) {
            answer = answer.plus(next(engine, factPayloads));
        }
        return answer;
    }

    private static JoinAnswer next(JoinEngine engine, PlainColumn factPayloads) {
        ResultBatch batch = engine.poll();
        if (batch == null) {
            return JoinAnswer.NOTHING;
        }
        factPayloads.bind(batch.chunk());
        byte[] facts = Objects.requireNonNull(factPayloads.base());
        long start = factPayloads.start();
        long probeRows = batch.probeRowAddress();
        long payloads = batch.payloadAddress(0, 0);
        long sum = 0;
        for (int row = 0; row < batch.rowCount(); row++) {
            long factRow = Memory.getInt(probeRows + 4L * row);
            sum += Memory.getLong(payloads + 8L * row);
            sum += Memory.getLong(facts, start + 8 * factRow);
        }
        return new JoinAnswer(batch.rowCount(), sum);
    }

    @Override
    public void close() {
        pool.shutdownNow();
    }
}
