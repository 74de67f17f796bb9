// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.skew;

import io.github.gpujoin.benchmarks.workload.JoinAnswer;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.cpu.CpuJoinEngine;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * The CPU engine, with a fork for each thread over the same tables. Queues are full before a lap
 * begins, so that nothing is measured but joining.
 */
final class CpuSkewEngine implements SkewEngine {

    private static final Mode STATIC =
            new Mode("static", "every thread has the same number of partitions, for good");
    private static final Mode ADAPTIVE =
            new Mode("adaptive", "a thread that is free takes the next chunk, of any partition");

    private final CpuJoinEngine tables;
    private final List<CpuJoinEngine> forks = new ArrayList<>();
    private final ExecutorService pool;

    CpuSkewEngine(OrdersStar star, int threads) {
        this.tables = new CpuJoinEngine(star.spec());
        star.build(tables::submitBuild);
        tables.finishBuild();
        for (int thread = 0; thread < threads; thread++) {
            forks.add(tables.fork());
        }
        this.pool = Executors.newFixedThreadPool(threads);
    }

    @Override
    public String name() {
        return "CPU, " + forks.size() + " threads";
    }

    @Override
    public int workers() {
        return forks.size();
    }

    @Override
    public List<Mode> modes() {
        return List.of(STATIC, ADAPTIVE);
    }

    @Override
    public Lap join(Mode mode, SkewedFacts facts) throws Exception {
        List<Queue<Chunk>> queues = mode == STATIC ? byPartition(facts) : shared(facts);
        List<Callable<Lap>> shares = new ArrayList<>();
        long startNs = System.nanoTime();
        for (int worker = 0; worker < forks.size(); worker++) {
            int number = worker;
            shares.add(() -> share(number, queues.get(number), startNs));
        }
        JoinAnswer answer = JoinAnswer.NOTHING;
        List<Span> spans = new ArrayList<>();
        for (Future<Lap> share : pool.invokeAll(shares)) {
            answer = answer.plus(share.get().answer());
            spans.addAll(share.get().spans());
        }
        return new Lap(answer, System.nanoTime() - startNs, spans);
    }

    /** Partitions in runs of the same length, as Flink gives key groups to subtasks. */
    private List<Queue<Chunk>> byPartition(SkewedFacts facts) {
        List<Queue<Chunk>> queues = new ArrayList<>();
        forks.forEach(fork -> queues.add(new ArrayDeque<>()));
        for (Chunk chunk : facts.chunks()) {
            queues.get(chunk.partition() * forks.size() / OrdersStar.PARTITIONS).add(chunk);
        }
        return queues;
    }

    private List<Queue<Chunk>> shared(SkewedFacts facts) {
        Queue<Chunk> queue = new ConcurrentLinkedQueue<>(facts.chunks());
        return forks.stream().map(fork -> queue).toList();
    }

    /** What one thread does in a lap; neighbouring chunks of a partition are one span. */
    private Lap share(int worker, Queue<Chunk> queue, long startNs) {
        JoinAnswer answer = JoinAnswer.NOTHING;
        List<Span> spans = new ArrayList<>();
        long beganNs = System.nanoTime() - startNs;
        for (Chunk chunk = queue.poll(); chunk != null; chunk = queue.poll()) {
            answer = answer.plus(join(forks.get(worker), chunk));
            long endedNs = System.nanoTime() - startNs;
            int last = spans.size() - 1;
            if (last >= 0 && spans.get(last).partition() == chunk.partition()) {
                long firstNs = spans.get(last).startNs();
                spans.set(last, new Span(worker, chunk.partition(), firstNs, endedNs));
            } else {
                spans.add(new Span(worker, chunk.partition(), beganNs, endedNs));
            }
            beganNs = endedNs;
        }
        return new Lap(answer, beganNs, spans);
    }

    private static JoinAnswer join(CpuJoinEngine engine, Chunk chunk) {
        JoinAnswer answer = JoinAnswer.NOTHING;
        if (!engine.submitProbe(chunk, 0)) {
            throw new IllegalStateException("an engine with nothing in flight takes a chunk");
        }
        while (engine.inFlightCount() > 0) {
            ResultBatch batch = engine.poll();
            answer = batch == null ? answer : answer.plus(OrdersStar.answerOf(batch));
        }
        return answer;
    }

    @Override
    public void close() {
        pool.shutdownNow();
        forks.forEach(CpuJoinEngine::close);
        tables.close();
    }
}
