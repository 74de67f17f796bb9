// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.hybrid;

import io.github.gpujoin.benchmarks.join.Contender;
import io.github.gpujoin.benchmarks.join.Measurement;
import io.github.gpujoin.benchmarks.local.EngineContender;
import io.github.gpujoin.benchmarks.workload.JoinAnswer;
import io.github.gpujoin.benchmarks.workload.TupleSchemas;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.hybrid.HybridJoinEngine;
import io.github.gpujoin.hybrid.HybridOptions;
import io.github.gpujoin.hybrid.MemoryTier;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The engine that divides its build side, by one thread. Facts without tables wait until they are
 * worth making some, as they do in the operator; the log is on the heap, where the operator's is in
 * state.
 */
final class HybridContender implements Contender {

    private final String name;
    private final PartitionedTuples tuples;
    private final JoinEngineFactory device;
    private final JoinEngineFactory host;
    private final Map<String, Long> parameters;

    /**
     * @param device null where there is none
     * @param parameters for the report
     */
    HybridContender(
            String name,
            PartitionedTuples tuples,
            @Nullable JoinEngineFactory device,
            JoinEngineFactory host,
            Map<String, Long> parameters) {
        this.name = name;
        this.tuples = tuples;
        this.device = device;
        this.host = host;
        this.parameters = parameters;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Measurement run() {
        HybridOptions options = new HybridOptions(0, 0, PartitionedTuples.PARTITIONS, 0);
        try (HybridJoinEngine engine =
                new HybridJoinEngine(
                        TupleSchemas.JOIN,
                        options,
                        device,
                        host,
                        tuples,
                        lost -> {
                            throw lost;
                        })) {
            Map<String, Long> details = new TreeMap<>(parameters);
            long startNs = System.nanoTime();
            load(engine);
            long builtNs = System.nanoTime();
            for (MemoryTier tier : MemoryTier.values()) {
                details.put(
                        "groups_" + tier.name().toLowerCase(java.util.Locale.ROOT),
                        engine.tiers().stream().filter(t -> t == tier).count());
            }
            Iterator<Chunk> facts = new Facts(engine);
            JoinAnswer answer =
                    EngineContender.probe(engine, () -> facts.hasNext() ? facts.next() : null);
            long probeNs = System.nanoTime() - builtNs;
            details.put("build_us", (builtNs - startNs) / 1000);
            return new Measurement(tuples.probeRows(), probeNs, answer, tuples.expected(), details);
        }
    }

    private void load(JoinEngine engine) {
        tuples.build().forEach(chunk -> engine.submitBuild(0, chunk));
        engine.finishBuild();
    }

    /** Chunks in the order in which the operator would submit them. */
    private final class Facts implements Iterator<Chunk> {
        private final HybridJoinEngine engine;
        private final Iterator<Chunk> arriving = tuples.probe().iterator();
        private final Map<Integer, List<Chunk>> waiting = new HashMap<>();
        private final ArrayDeque<Chunk> due = new ArrayDeque<>();

        Facts(HybridJoinEngine engine) {
            this.engine = engine;
        }

        @Override
        public boolean hasNext() {
            while (due.isEmpty() && arriving.hasNext()) {
                arrive(arriving.next());
            }
            if (due.isEmpty()) {
                waiting.values().forEach(due::addAll);
                waiting.clear();
            }
            return !due.isEmpty();
        }

        private void arrive(Chunk chunk) {
            if (!engine.isSpilled(chunk.partition())) {
                due.add(chunk);
                return;
            }
            engine.announceDeferred(chunk.partition(), chunk.rowCount());
            List<Chunk> others = waiting.computeIfAbsent(chunk.partition(), p -> new ArrayList<>());
            others.add(chunk);
            long bytes =
                    others.stream().mapToLong(Chunk::rowCount).sum() * TupleSchemas.TUPLE_BYTES;
            if (bytes >= engine.worthwhileFactBytes(chunk.partition())) {
                due.addAll(waiting.remove(chunk.partition()));
            }
        }

        @Override
        public Chunk next() {
            return due.remove();
        }
    }
}
