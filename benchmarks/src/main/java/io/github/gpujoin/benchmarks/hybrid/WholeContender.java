// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.hybrid;

import io.github.gpujoin.benchmarks.join.Contender;
import io.github.gpujoin.benchmarks.join.Measurement;
import io.github.gpujoin.benchmarks.local.EngineContender;
import io.github.gpujoin.benchmarks.workload.JoinAnswer;
import io.github.gpujoin.benchmarks.workload.TupleSchemas;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.cpu.CpuJoinEngine;
import java.util.Iterator;
import java.util.Map;
import java.util.TreeMap;

/** One CPU engine with all build rows and all the memory, by one thread: the floor. */
final class WholeContender implements Contender {

    private final String name;
    private final PartitionedTuples tuples;

    WholeContender(String name, PartitionedTuples tuples) {
        this.name = name;
        this.tuples = tuples;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Measurement run() {
        try (CpuJoinEngine engine = loaded(tuples, Allocator.unlimited())) {
            Iterator<Chunk> facts = tuples.probe().iterator();
            long startNs = System.nanoTime();
            JoinAnswer answer =
                    EngineContender.probe(engine, () -> facts.hasNext() ? facts.next() : null);
            long probeNs = System.nanoTime() - startNs;
            Map<String, Long> details = new TreeMap<>();
            details.put("build_rows", tuples.buildRows());
            return new Measurement(tuples.probeRows(), probeNs, answer, tuples.expected(), details);
        }
    }

    /** An engine over all build rows. */
    static CpuJoinEngine loaded(PartitionedTuples tuples, Allocator allocator) {
        CpuJoinEngine engine = new CpuJoinEngine(TupleSchemas.JOIN, allocator);
        tuples.build().forEach(chunk -> engine.submitBuild(0, chunk));
        engine.finishBuild();
        return engine;
    }
}
