// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.core.engine.Aggregate;
import io.github.gpujoin.core.engine.Aggregation;
import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinColumn;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.KeyHash;
import io.github.gpujoin.flink.api.explain.DimensionExplanation;
import io.github.gpujoin.flink.api.explain.Distribution;
import io.github.gpujoin.flink.api.explain.JoinExplanation;
import io.github.gpujoin.flink.api.explain.PartitionClass;
import io.github.gpujoin.flink.api.explain.ReasonCode;
import io.github.gpujoin.flink.api.options.LateDimensionRows;
import io.github.gpujoin.flink.api.options.MetricLevel;
import io.github.gpujoin.flink.engine.EngineSelection;
import io.github.gpujoin.flink.exchange.ring.RingOptions;
import io.github.gpujoin.flink.metrics.FanOutMonitor;
import io.github.gpujoin.flink.metrics.HeavyHitterSketch;
import io.github.gpujoin.flink.metrics.JoinReporting;
import io.github.gpujoin.flink.runtime.eventtime.EventTimeJoin;
import io.github.gpujoin.flink.runtime.expiry.TimesToLive;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.metrics.TimerGauge;
import org.apache.flink.streaming.runtime.streamrecord.StreamElement;
import org.apache.flink.streaming.util.CollectorOutput;
import org.apache.flink.util.function.ThrowingRunnable;

/**
 * Facts (key, number) and one dimension (key, number), their chunks as packers seal them, and the
 * expected results as {@code "fact|dimension"}. Also creates the operators that join them.
 */
public final class JoinScenario {

    public static final int MAX_PARALLELISM = 16;
    private static final RingOptions NO_RINGS =
            RingOptions.of(new Configuration(), "join", MAX_PARALLELISM);

    private static final ChunkSchema FACTS =
            ChunkSchema.of(
                    Column.of("key", ColumnType.INT64), Column.of("number", ColumnType.INT64));
    private static final ChunkSchema DIMENSION =
            ChunkSchema.of(Column.of("id", ColumnType.INT64), Column.of("value", ColumnType.INT64));
    private static final int CHUNK_ROWS = 40;

    /** Maximum delay of deferred probes, in milliseconds. */
    public static final long SPILL_DELAY_MS = 10_000;

    private final boolean partitioned;
    private final List<long[]> build = new ArrayList<>();
    private final List<long[]> facts = new ArrayList<>();
    private long sequence;

    public JoinScenario(boolean partitioned) {
        this.partitioned = partitioned;
    }

    public static JoinScenario random(long seed, boolean partitioned) {
        JoinScenario scenario = new JoinScenario(partitioned);
        Random random = new Random(seed);
        for (int i = 0; i < 300; i++) {
            scenario.buildRow(random.nextInt(200), 1_000_000 + i);
        }
        for (int i = 0; i < 600; i++) {
            scenario.fact(random.nextInt(250), i);
        }
        return scenario;
    }

    public JoinScenario buildRow(long key, long value) {
        build.add(new long[] {key, value});
        return this;
    }

    public JoinScenario fact(long key, long number) {
        facts.add(new long[] {key, number});
        return this;
    }

    public static JoinSpec spec() {
        return new JoinSpec(
                FACTS, List.of(new DimensionSpec("dimension", DIMENSION, 0, 0, JoinKind.INNER)));
    }

    public static FanOutMonitor fanOutWatch() {
        return fanOutWatch(Integer.MAX_VALUE);
    }

    public static FanOutMonitor fanOutWatch(int warnFrom) {
        return new FanOutMonitor("test", spec(), new HeavyHitterSketch(spec()), warnFrom);
    }

    /** Returns a turn of emitting an engine's results. */
    public static ThrowingRunnable<Exception> pump(JoinEngine engine, List<StreamElement> output) {
        return new RowPump<>(
                        new EnginePolls(engine, new TimerGauge()),
                        new TextEmitter(),
                        new CollectorOutput<>(output),
                        chunk -> {},
                        fanOutWatch(),
                        () -> {})
                ::emitNext;
    }

    public static StarJoinOperatorFactory<String> operator(JoinEngineFactory engine) {
        return operator(EngineSelection.only(engine));
    }

    public static StarJoinOperatorFactory<String> operator(EngineSelection engines) {
        return new StarJoinOperatorFactory<>(
                settings(spec(), engines, 1_000), context -> new TextEmitter());
    }

    /** Returns a join before which a {@link ReplicaOperator} logs and replays the dimension. */
    static StarJoinOperatorFactory<String> replayedOperator(EngineSelection engines) {
        return new StarJoinOperatorFactory<>(
                settings(spec(), engines, 1_000)
                        .withReplicas(new Replicas(Map.of(0, Replicas.UNLIMITED))),
                context -> new TextEmitter());
    }

    /** Returns a join whose plan has a partitioned dimension. */
    static StarJoinOperatorFactory<String> partitionedOperator(EngineSelection engines) {
        DimensionExplanation dimension =
                DimensionExplanation.planned(
                        "dimension",
                        JoinKind.INNER.name(),
                        Distribution.PARTITIONED,
                        ReasonCode.ASKED,
                        ReasonCode.FILTERS,
                        PartitionClass.UNKNOWN);
        JoinExplanation plan =
                JoinExplanation.planned(
                        "join", "flink", ReasonCode.NOT_ENABLED, List.of(dimension), 1);
        return new StarJoinOperatorFactory<>(
                settings(spec(), engines, 1_000, plan, null, TimesToLive.NONE),
                context -> new TextEmitter());
    }

    /** Returns settings of a join without event time and times to live. */
    static JoinSettings settings(JoinSpec spec, EngineSelection engines, long groupIntervalMs) {
        return settings(spec, engines, groupIntervalMs, null, TimesToLive.NONE);
    }

    static JoinSettings settings(
            JoinSpec spec,
            EngineSelection engines,
            long groupIntervalMs,
            EventTimeJoin eventTime,
            TimesToLive ttls) {
        return settings(spec, engines, groupIntervalMs, plan(spec), eventTime, ttls);
    }

    /** Returns a plan that replicates all dimensions. */
    private static JoinExplanation plan(JoinSpec spec) {
        return JoinExplanation.planned(
                "join",
                NO_RINGS.description(),
                ReasonCode.BROADCAST_EDGE,
                spec.dimensions().stream()
                        .map(
                                dimension ->
                                        DimensionExplanation.planned(
                                                dimension.name(),
                                                dimension.kind().name(),
                                                Distribution.REPLICATED,
                                                ReasonCode.ASKED,
                                                ReasonCode.FILTERS,
                                                PartitionClass.UNKNOWN))
                        .toList(),
                1);
    }

    static JoinSettings settings(
            JoinSpec spec,
            EngineSelection engines,
            long groupIntervalMs,
            JoinExplanation plan,
            EventTimeJoin eventTime,
            TimesToLive ttls) {
        return new JoinSettings(
                spec,
                engines,
                MAX_PARALLELISM,
                groupIntervalMs,
                NO_RINGS,
                new JoinReporting(plan, MetricLevel.ESSENTIAL, Integer.MAX_VALUE),
                eventTime,
                ttls,
                Replicas.NONE,
                LateRowPolicy.of(LateDimensionRows.FAIL));
    }

    /** Returns a join that counts the matches of each fact key and sums the dimension's values. */
    static StarJoinOperatorFactory<String> groupingOperator(
            JoinEngineFactory engine, int maxGroups, long groupIntervalMs) {
        Aggregation aggregation =
                new Aggregation(
                        List.of(JoinColumn.ofFact(0)),
                        List.of(Aggregate.count(), Aggregate.sum(new JoinColumn(0, 1))),
                        maxGroups);
        JoinSpec rows = spec();
        JoinSpec groups =
                new JoinSpec(rows.factSchema(), rows.dimensions(), List.of(), aggregation);
        return new StarJoinOperatorFactory<>(
                settings(groups, EngineSelection.only(engine), groupIntervalMs),
                context -> new GroupTextEmitter());
    }

    /** Returns all groups of {@link #groupingOperator}, as {@code "key|count|sum"}, sorted. */
    List<String> groups() {
        Map<Long, long[]> sums = new TreeMap<>();
        for (long[] fact : facts) {
            for (long[] row : build) {
                if (fact[0] == row[0]) {
                    long[] sum = sums.computeIfAbsent(fact[0], key -> new long[2]);
                    sum[0]++;
                    sum[1] += row[1];
                }
            }
        }
        return text(sums);
    }

    /** Returns the sums of partial groups. */
    static List<String> addUp(List<String> parts) {
        Map<Long, long[]> sums = new TreeMap<>();
        for (String part : parts) {
            String[] words = part.split("\\|");
            long[] sum = sums.computeIfAbsent(Long.parseLong(words[0]), key -> new long[2]);
            sum[0] += Long.parseLong(words[1]);
            sum[1] += Long.parseLong(words[2]);
        }
        return text(sums);
    }

    private static List<String> text(Map<Long, long[]> sums) {
        return sums.entrySet().stream()
                .map(e -> e.getKey() + "|" + e.getValue()[0] + "|" + e.getValue()[1])
                .toList();
    }

    public List<Chunk> buildChunks() {
        return chunks(DIMENSION, 0, build);
    }

    public List<Chunk> factChunks() {
        return chunks(FACTS, ChunkDescriptor.FACTS, facts);
    }

    public List<String> results() {
        List<String> results = new ArrayList<>();
        for (long[] fact : facts) {
            for (long[] row : build) {
                if (fact[0] == row[0]) {
                    results.add(fact[1] + "|" + row[1]);
                }
            }
        }
        return results;
    }

    /** Counts facts with smaller keys, for scenarios too large for {@link #results()}. */
    public int factsWithKeyBelow(long key) {
        return (int) facts.stream().filter(fact -> fact[0] < key).count();
    }

    /** Returns build rows {@code from} to {@code to - 1} in chunks of one subtask each. */
    List<Chunk> buildChunks(int from, int to, int subtasks) {
        return manyPartitions(DIMENSION, 0, build.subList(from, to), subtasks);
    }

    /** Returns facts {@code from} to {@code to - 1} in chunks of one subtask each. */
    List<Chunk> factChunks(int from, int to, int subtasks) {
        return manyPartitions(FACTS, ChunkDescriptor.FACTS, facts.subList(from, to), subtasks);
    }

    int buildRows() {
        return build.size();
    }

    int facts() {
        return facts.size();
    }

    private List<Chunk> manyPartitions(
            ChunkSchema schema, int dimension, List<long[]> rows, int subtasks) {
        Map<Integer, ChunkBuilder> builders = new TreeMap<>();
        List<Chunk> chunks = new ArrayList<>();
        for (long[] row : rows) {
            int partition = KeyHash.partition(KeyHash.hash(row[0]), MAX_PARALLELISM);
            int subtask = partition * subtasks / MAX_PARALLELISM;
            ChunkBuilder builder =
                    builders.computeIfAbsent(
                            subtask, s -> new ChunkBuilder(schema, 16 * CHUNK_ROWS));
            builder.putLong(0, row[0]);
            builder.putLong(1, row[1]);
            builder.endRow();
            if (builder.isFull()) {
                chunks.add(builder.sealMany(dimension, partition, 0, sequence++));
            }
        }
        builders.forEach(
                (subtask, builder) -> {
                    int first = (subtask * MAX_PARALLELISM + subtasks - 1) / subtasks;
                    chunks.add(builder.sealMany(dimension, first, 0, sequence++));
                });
        return chunks;
    }

    private List<Chunk> chunks(ChunkSchema schema, int dimension, List<long[]> rows) {
        Map<Integer, ChunkBuilder> builders = new TreeMap<>();
        List<Chunk> chunks = new ArrayList<>();
        for (long[] row : rows) {
            int partition =
                    partitioned
                            ? KeyHash.partition(KeyHash.hash(row[0]), MAX_PARALLELISM)
                            : ChunkDescriptor.UNPARTITIONED;
            ChunkBuilder builder =
                    builders.computeIfAbsent(
                            partition, p -> new ChunkBuilder(schema, 16 * CHUNK_ROWS));
            builder.putLong(0, row[0]);
            builder.putLong(1, row[1]);
            builder.endRow();
            if (builder.isFull()) {
                chunks.add(builder.seal(dimension, partition, 0, sequence++));
            }
        }
        builders.forEach(
                (partition, builder) ->
                        chunks.add(builder.seal(dimension, partition, 0, sequence++)));
        return chunks;
    }
}
