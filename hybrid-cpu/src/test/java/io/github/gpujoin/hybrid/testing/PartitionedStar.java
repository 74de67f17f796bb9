// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid.testing;

import io.github.gpujoin.core.engine.Aggregate;
import io.github.gpujoin.core.engine.Aggregation;
import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinColumn;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.testing.EngineRun;
import io.github.gpujoin.core.engine.testing.ResultRow;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.KeyHash;
import io.github.gpujoin.core.layout.testing.TestChunks;
import io.github.gpujoin.core.reference.ReferenceJoinEngineFactory;
import io.github.gpujoin.hybrid.HybridOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/** Random data of a small replicated dimension, a large partitioned one, and facts. */
public final class PartitionedStar {

    public static final int PARTITIONS = 32;
    public static final int FIRST_PARTITION = 64;
    private static final int ALL_PARTITIONS = 128;
    private static final int REPLICATED = 0;
    public static final int PARTITIONED = 1;
    private static final int REPLICATED_KEYS = 50;
    private static final int CHUNK_ROWS = 128;

    private final JoinSpec spec;
    private final Random random;
    private final List<Chunk> builds = new ArrayList<>();
    private final List<Chunk> probes = new ArrayList<>();
    private final int keys;

    /**
     * @param keys of the partitioned dimension; about a quarter have two rows
     */
    public PartitionedStar(long seed, int keys, JoinKind kind, boolean aggregates) {
        this.random = new Random(seed);
        this.keys = keys;
        this.spec = spec(kind, aggregates);
        addReplicated();
        addPartitioned();
    }

    private static JoinSpec spec(JoinKind kind, boolean aggregates) {
        ChunkSchema facts =
                ChunkSchema.of(
                        Column.of("large", ColumnType.INT64), Column.of("small", ColumnType.INT32));
        ChunkSchema small =
                ChunkSchema.of(
                        Column.of("key", ColumnType.INT32), Column.of("group", ColumnType.INT32));
        ChunkSchema large =
                ChunkSchema.of(
                        Column.of("key", ColumnType.INT64),
                        Column.of("value", ColumnType.INT64),
                        Column.of("name", ColumnType.STRING));
        List<DimensionSpec> dimensions =
                List.of(
                        new DimensionSpec("small", small, 0, 1, JoinKind.INNER),
                        new DimensionSpec("large", large, 0, 0, kind));
        return new JoinSpec(
                facts,
                dimensions,
                List.of(),
                aggregates
                        ? new Aggregation(
                                List.of(new JoinColumn(REPLICATED, 1)),
                                List.of(Aggregate.count(), Aggregate.sum(JoinColumn.ofFact(0))))
                        : null);
    }

    private void addReplicated() {
        List<Object[]> rows = new ArrayList<>();
        for (int key = 0; key < REPLICATED_KEYS; key++) {
            rows.add(new Object[] {key, key % 7});
        }
        builds.add(TestChunks.of(spec.dimensions().get(REPLICATED).schema(), REPLICATED, rows));
    }

    private void addPartitioned() {
        List<List<Object[]>> rows = partitions();
        for (long key = 0; key < keys; key++) {
            for (int copies = random.nextInt(4) == 0 ? 2 : 1; copies > 0; copies--) {
                int partition = partition(key);
                if (partition >= 0) {
                    rows.get(partition).add(new Object[] {key, random.nextLong(), "n" + key});
                }
            }
        }
        ChunkSchema schema = spec.dimensions().get(PARTITIONED).schema();
        for (int p = 0; p < PARTITIONS; p++) {
            for (int at = 0; at < rows.get(p).size(); at += CHUNK_ROWS) {
                int end = Math.min(rows.get(p).size(), at + CHUNK_ROWS);
                builds.add(chunk(schema, PARTITIONED, p, rows.get(p).subList(at, end)));
            }
        }
    }

    /**
     * Adds fact chunks of random partitions from {@code fromPartition} to {@code toPartition}
     * (exclusive), relative to the first one.
     */
    public PartitionedStar probe(int chunks, int fromPartition, int toPartition) {
        for (int i = 0; i < chunks; i++) {
            int partition = fromPartition + random.nextInt(toPartition - fromPartition);
            List<Object[]> rows = new ArrayList<>();
            while (rows.size() < CHUNK_ROWS) {
                long key = random.nextInt(2 * keys);
                if (partition(key) == partition) {
                    rows.add(new Object[] {key, random.nextInt(2 * REPLICATED_KEYS)});
                }
            }
            probes.add(chunk(spec.factSchema(), ChunkDescriptor.FACTS, partition, rows));
        }
        return this;
    }

    /** Adds fact chunks with rows of many partitions. */
    public PartitionedStar probeManyPartitions(int chunks) {
        for (int i = 0; i < chunks; i++) {
            ChunkBuilder builder = new ChunkBuilder(spec.factSchema(), 64 * CHUNK_ROWS);
            while (builder.rowCount() < CHUNK_ROWS) {
                long key = random.nextInt(2 * keys);
                if (partition(key) >= 0) {
                    TestChunks.addRow(
                            builder, new Object[] {key, random.nextInt(2 * REPLICATED_KEYS)});
                }
            }
            probes.add(builder.sealMany(ChunkDescriptor.FACTS, FIRST_PARTITION, 0, i));
        }
        return this;
    }

    private static List<List<Object[]>> partitions() {
        return IntStream.range(0, PARTITIONS)
                .mapToObj(p -> (List<Object[]>) new ArrayList<Object[]>())
                .toList();
    }

    /** Returns the index of the partition of a key, or -1 if another subtask owns it. */
    private static int partition(long key) {
        int partition = KeyHash.partition(KeyHash.hash(key), ALL_PARTITIONS) - FIRST_PARTITION;
        return partition < PARTITIONS ? Math.max(-1, partition) : -1;
    }

    private static Chunk chunk(
            ChunkSchema schema, int dimension, int partition, List<Object[]> rows) {
        ChunkBuilder builder = new ChunkBuilder(schema, 64 * rows.size());
        rows.forEach(row -> TestChunks.addRow(builder, row));
        return builder.seal(dimension, FIRST_PARTITION + partition, 0, 0);
    }

    public JoinSpec spec() {
        return spec;
    }

    public List<Chunk> probes() {
        return probes;
    }

    /** Returns all build chunks, as an operator stores them. */
    public MemoryLog log() {
        MemoryLog log = new MemoryLog(PARTITIONED);
        builds.forEach(chunk -> log.add(chunk.dimension(), chunk));
        return log;
    }

    /** Returns options with the default wait for memory. */
    public HybridOptions options(int groupCount, long windowRows) {
        HybridOptions defaults =
                new HybridOptions(PARTITIONED, FIRST_PARTITION, PARTITIONS, groupCount);
        return options(groupCount, windowRows, defaults.memoryWaitNs());
    }

    public HybridOptions options(int groupCount, long windowRows, long memoryWaitNs) {
        return new HybridOptions(
                PARTITIONED, FIRST_PARTITION, PARTITIONS, groupCount, windowRows, memoryWaitNs);
    }

    /** Submits all build chunks and builds the tables. */
    public void load(JoinEngine engine) {
        submit(engine);
        engine.finishBuild();
    }

    /** Submits all build chunks. */
    public void submit(JoinEngine engine) {
        builds.forEach(chunk -> engine.submitBuild(chunk.dimension(), chunk));
    }

    /** Returns the sorted results of the reference engine, for each probe chunk. */
    public List<List<ResultRow>> expected() {
        try (JoinEngine reference = new ReferenceJoinEngineFactory().create(spec)) {
            load(reference);
            EngineRun run = new EngineRun(reference);
            probes.forEach(probe -> run.submit(probe, 0));
            run.drain();
            return run.results();
        }
    }

    public EngineRun aggregatedBy(JoinEngine engine) {
        EngineRun run = new EngineRun(engine);
        probes.forEach(probe -> run.submit(probe, 0));
        run.drain();
        run.drainGroups();
        return run;
    }
}
