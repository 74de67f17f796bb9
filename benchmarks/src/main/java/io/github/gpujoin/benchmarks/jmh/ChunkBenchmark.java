// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.jmh;

import io.github.gpujoin.benchmarks.workload.TupleSchemas;
import io.github.gpujoin.benchmarks.workload.Tuples;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import java.util.List;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.infra.Blackhole;

/** A chunk's life between two ends: sealed with its checksum, then wrapped and checked. */
@State(Scope.Thread)
public class ChunkBenchmark {

    private final List<Chunk> chunks = WorkingSet.tuples().probe();
    private final ChunkBuilder builder =
            new ChunkBuilder(TupleSchemas.PROBE, Tuples.CHUNK_ROWS * TupleSchemas.TUPLE_BYTES);

    @Benchmark
    public void chunkSeal(Blackhole sink) {
        for (int i = 0; i < chunks.size(); i++) {
            builder.advance(Tuples.CHUNK_ROWS);
            sink.consume(builder.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, i));
        }
    }

    @Benchmark
    public void chunkWrap(Blackhole sink) {
        for (Chunk chunk : chunks) {
            sink.consume(Chunk.wrap(TupleSchemas.PROBE, chunk.bytes()));
        }
    }
}
