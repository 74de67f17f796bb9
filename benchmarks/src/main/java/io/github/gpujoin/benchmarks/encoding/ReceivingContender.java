// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.encoding;

import io.github.gpujoin.benchmarks.join.Contender;
import io.github.gpujoin.benchmarks.join.Measurement;
import io.github.gpujoin.benchmarks.local.EngineContender;
import io.github.gpujoin.benchmarks.workload.JoinAnswer;
import io.github.gpujoin.benchmarks.workload.TupleSchemas;
import io.github.gpujoin.benchmarks.workload.Tuples;
import io.github.gpujoin.core.encoding.ChunkDecoder;
import io.github.gpujoin.core.encoding.ChunkEncoder;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.cpu.CpuJoinEngine;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;

/**
 * Threads that receive the bytes of fact chunks, check and decode them, and probe tables that exist
 * already. The rate is over receiving and probing.
 */
final class ReceivingContender implements Contender {

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private final String name;
    private final Tuples tuples;
    private final boolean isEncoded;
    private final int threads;
    private final ExecutorService pool;
    private final List<byte[]> received = new ArrayList<>();
    private final CpuJoinEngine engine = new CpuJoinEngine(TupleSchemas.JOIN);

    ReceivingContender(String name, Tuples tuples, boolean isEncoded, int threads) {
        this.name = name;
        this.tuples = tuples;
        this.isEncoded = isEncoded;
        this.threads = threads;
        this.pool = Executors.newFixedThreadPool(threads);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public void prepare() {
        ChunkEncoder encoder = new ChunkEncoder();
        for (Chunk chunk : tuples.probe()) {
            received.add(isEncoded ? encoder.encode(chunk) : chunk.bytes());
        }
        tuples.build().forEach(chunk -> engine.submitBuild(0, chunk));
        engine.finishBuild();
    }

    @Override
    public Measurement run() throws Exception {
        AtomicInteger next = new AtomicInteger();
        Supplier<Chunk> source =
                () -> {
                    int claimed = next.getAndIncrement();
                    return claimed < received.size()
                            ? ChunkDecoder.open(TupleSchemas.PROBE, received.get(claimed))
                            : null;
                };
        LongAdder cpuNs = new LongAdder();
        List<Callable<JoinAnswer>> shares = new ArrayList<>();
        for (int thread = 0; thread < threads; thread++) {
            shares.add(
                    () -> {
                        long startNs = THREADS.getCurrentThreadCpuTime();
                        try (CpuJoinEngine fork = engine.fork()) {
                            return EngineContender.probe(fork, source);
                        } finally {
                            cpuNs.add(THREADS.getCurrentThreadCpuTime() - startNs);
                        }
                    });
        }
        long startNs = System.nanoTime();
        JoinAnswer answer = JoinAnswer.NOTHING;
        for (Future<JoinAnswer> share : pool.invokeAll(shares)) {
            answer = answer.plus(share.get());
        }
        long elapsedNs = System.nanoTime() - startNs;
        return new Measurement(
                Tuples.rowCount(tuples.probe()),
                elapsedNs,
                answer,
                tuples.expected(received.size()),
                Map.of(
                        "build_rows",
                        tuples.buildRows(),
                        "cpu_ps_a_fact",
                        1000 * cpuNs.sum() / Tuples.rowCount(tuples.probe()),
                        "received_bytes",
                        received.stream().mapToLong(bytes -> bytes.length).sum()));
    }

    @Override
    public void close() {
        pool.shutdownNow();
        engine.close();
    }
}
