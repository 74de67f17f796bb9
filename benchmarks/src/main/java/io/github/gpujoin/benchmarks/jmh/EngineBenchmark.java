// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.jmh;

import io.github.gpujoin.benchmarks.workload.TupleSchemas;
import io.github.gpujoin.benchmarks.workload.Tuples;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.cpu.CpuJoinEngine;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** Probes of the CPU engine on one thread; results are written but not read. */
@State(Scope.Thread)
public class EngineBenchmark {

    private Tuples tuples;
    private CpuJoinEngine engine;

    @Setup
    public void build() {
        tuples = WorkingSet.tuples();
        engine = new CpuJoinEngine(TupleSchemas.JOIN);
        tuples.build().forEach(chunk -> engine.submitBuild(0, chunk));
        engine.finishBuild();
    }

    @Benchmark
    public long engineProbe() {
        long rows = 0;
        for (Chunk chunk : tuples.probe()) {
            engine.submitProbe(chunk, 0);
            ResultBatch batch;
            do {
                batch = engine.poll();
                rows += batch.rowCount();
            } while (!batch.isLast());
        }
        return rows;
    }

    @TearDown
    public void close() {
        engine.close();
    }
}
