// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.hybrid;

import io.github.gpujoin.benchmarks.workload.JoinAnswer;
import io.github.gpujoin.benchmarks.workload.KeyDomain;
import io.github.gpujoin.benchmarks.workload.TupleSchemas;
import io.github.gpujoin.benchmarks.workload.Tuples;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.KeyHash;
import io.github.gpujoin.hybrid.BuildChunks;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * The two relations as they come to a subtask that owns all partitions: chunks of one partition
 * each, those of different ones in random order. Immutable, but for the order of the lists.
 */
final class PartitionedTuples implements BuildChunks {

    static final int PARTITIONS = 128;

    private static final int CHUNK_ROWS = 8_192;
    private static final long SEED = 23;

    private final List<List<Chunk>> build;
    private final List<Chunk> probe;
    private final long buildRows;
    private final long probeRows;
    private final JoinAnswer expected;

    PartitionedTuples(int buildRows, long probeRows) {
        Tuples tuples = Tuples.generate(buildRows, probeRows, KeyDomain.SPARSE, SEED);
        this.buildRows = buildRows;
        this.probeRows = probeRows;
        this.expected = tuples.expected(tuples.probe().size());
        this.build = partition(tuples.build(), TupleSchemas.BUILD, 0);
        this.probe =
                new ArrayList<>(
                        partition(tuples.probe(), TupleSchemas.PROBE, ChunkDescriptor.FACTS)
                                .stream()
                                .flatMap(List::stream)
                                .toList());
        Collections.shuffle(probe, new Random(SEED));
    }

    private static List<List<Chunk>> partition(
            List<Chunk> chunks, ChunkSchema schema, int dimension) {
        List<List<Chunk>> parts =
                IntStream.range(0, PARTITIONS)
                        .mapToObj(p -> (List<Chunk>) new ArrayList<Chunk>())
                        .toList();
        List<ChunkBuilder> builders =
                IntStream.range(0, PARTITIONS)
                        .mapToObj(
                                p ->
                                        new ChunkBuilder(
                                                schema, CHUNK_ROWS * TupleSchemas.TUPLE_BYTES))
                        .toList();
        for (Chunk chunk : chunks) {
            for (int row = 0; row < chunk.rowCount(); row++) {
                long key = chunk.getLong(TupleSchemas.KEY, row);
                int partition = KeyHash.partition(KeyHash.hash(key), PARTITIONS);
                ChunkBuilder builder = builders.get(partition);
                builder.putLong(TupleSchemas.KEY, key);
                builder.putLong(TupleSchemas.PAYLOAD, chunk.getLong(TupleSchemas.PAYLOAD, row));
                builder.endRow();
                if (builder.isFull()) {
                    parts.get(partition).add(builder.seal(dimension, partition, 0, 0));
                }
            }
        }
        for (int p = 0; p < PARTITIONS; p++) {
            if (builders.get(p).rowCount() > 0) {
                parts.get(p).add(builders.get(p).seal(dimension, p, 0, 0));
            }
        }
        return parts;
    }

    long buildRows() {
        return buildRows;
    }

    long probeRows() {
        return probeRows;
    }

    JoinAnswer expected() {
        return expected;
    }

    List<Chunk> probe() {
        return probe;
    }

    List<Chunk> build() {
        return build.stream().flatMap(List::stream).toList();
    }

    @Override
    public Iterator<Chunk> replicated() {
        return Collections.emptyIterator();
    }

    @Override
    public long count(int partition) {
        return build.get(partition).size();
    }

    @Override
    public Chunk get(int partition, long index) {
        return build.get(partition).get((int) index);
    }
}
