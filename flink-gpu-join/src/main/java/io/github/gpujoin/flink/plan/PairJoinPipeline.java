// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.flink.api.data.ChunkTypeInfo;
import io.github.gpujoin.flink.api.explain.DimensionExplanation;
import io.github.gpujoin.flink.api.explain.Distribution;
import io.github.gpujoin.flink.api.explain.JoinExplanation;
import io.github.gpujoin.flink.api.explain.PartitionClass;
import io.github.gpujoin.flink.api.explain.ReasonCode;
import io.github.gpujoin.flink.config.JoinConfig;
import io.github.gpujoin.flink.emit.PairKind;
import io.github.gpujoin.flink.emit.ResultEmitters;
import io.github.gpujoin.flink.emit.SelectedKeyCheck;
import io.github.gpujoin.flink.filter.FilterPlan;
import io.github.gpujoin.flink.filter.FilteringDimension;
import io.github.gpujoin.flink.pack.PackOperator;
import io.github.gpujoin.flink.pack.PackSpec;
import io.github.gpujoin.flink.record.KeyLayout.Nulls;
import io.github.gpujoin.flink.record.RecordLayout;
import io.github.gpujoin.flink.runtime.Replicas;
import io.github.gpujoin.flink.runtime.expiry.TimesToLive;
import io.github.gpujoin.flink.state.Generations;
import io.github.gpujoin.flink.state.Generations.Upstream;
import io.github.gpujoin.flink.state.JoinColumns;
import io.github.gpujoin.flink.state.JoinFunctions;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.flink.api.common.functions.JoinFunction;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.api.java.typeutils.TypeExtractor;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.jspecify.annotations.Nullable;

/** Builds the operators of a join of two streams of whole records. */
public final class PairJoinPipeline<B, P> {

    private static final JoinUid DEFAULT_UID = JoinUid.of("gpu-join");

    private final StreamExecutionEnvironment env;
    private final DataStream<B> build;
    private final DataStream<P> probe;
    private final PairKeys<B, P, ?> keys;
    private JoinUid uid = DEFAULT_UID;
    private final BadRecordStreams badRecords = new BadRecordStreams();
    private final BuiltJoin built = new BuiltJoin();
    private @Nullable Distribution distribution;
    private int generation;
    private long expectedBytes = Long.MAX_VALUE;
    private PairKind kind = PairKind.INNER;
    private Nulls nulls = Nulls.MATCH_NOTHING;
    private JoinFunction<B, P, Boolean> condition;

    /**
     * Describes an inner join on keys.
     *
     * @throws IllegalArgumentException if a type does not support keys, or the types cannot be
     *     compared
     */
    public <K> PairJoinPipeline(
            DataStream<B> build,
            KeySelector<B, K> buildKey,
            TypeInformation<K> buildKeyType,
            DataStream<P> probe,
            KeySelector<P, K> probeKey,
            TypeInformation<K> probeKeyType) {
        this.env = probe.getExecutionEnvironment();
        this.build = build;
        this.probe = probe;
        this.keys =
                new PairKeys<>(
                        env.clean(Objects.requireNonNull(buildKey, "buildKey")),
                        buildKeyType,
                        env.clean(Objects.requireNonNull(probeKey, "probeKey")),
                        probeKeyType);
        keys.check();
    }

    public BuiltJoin built() {
        return built;
    }

    public void uid(JoinUid uid) {
        this.uid = uid;
    }

    public void kind(PairKind kind) {
        this.kind = kind;
    }

    /** Returns the side outputs of records that packers cannot read. */
    public BadRecordStreams badRecords() {
        return badRecords;
    }

    public void nulls(Nulls nulls) {
        this.nulls = nulls;
    }

    public void condition(JoinFunction<B, P, Boolean> condition) {
        this.condition = env.clean(condition);
    }

    public void expectedBytes(long bytes) {
        if (bytes < 0) {
            throw new IllegalArgumentException(
                    "Negative size of the build side: expectedBytes=%d. Use 0 or more."
                            .formatted(bytes));
        }
        this.expectedBytes = bytes;
    }

    /**
     * Sets how often the build side is read again; 0 if once only.
     *
     * @throws IllegalArgumentException if it is negative
     */
    public void buildGeneration(int generation) {
        if (generation < 0) {
            throw new IllegalArgumentException(
                    "Negative generation of the build side: %d. Count from 0."
                            .formatted(generation));
        }
        this.generation = generation;
    }

    public void replicated() {
        this.distribution = Distribution.REPLICATED;
    }

    public void partitioned() {
        this.distribution = Distribution.PARTITIONED;
    }

    /** Returns the result type that the function declares. */
    public <R> TypeInformation<R> resultType(JoinFunction<B, P, R> function) {
        return TypeExtractor.getBinaryOperatorReturnType(
                function,
                JoinFunction.class,
                0,
                1,
                2,
                TypeExtractor.NO_INDEX,
                build.getType(),
                probe.getType(),
                "PairJoin.apply",
                false);
    }

    public <R> SingleOutputStreamOperator<R> apply(
            JoinFunction<B, P, R> function, TypeInformation<R> resultType) {
        return isBulk() ? bulk(function, resultType) : streaming(function, resultType);
    }

    private boolean isBulk() {
        return BatchMode.isUsed(env, List.of(build, probe));
    }

    private <R> SingleOutputStreamOperator<R> bulk(
            JoinFunction<B, P, R> function, TypeInformation<R> resultType) {
        BulkTopology topology = new BulkTopology(env, uid, badRecords);
        uid.requireUnused(env);
        if (condition != null) {
            BulkPairJoin.requireNoCondition(kind, uid);
        }
        if (kind.keepsUnmatchedBuild()) {
            requireNotReplicated();
        }
        PairJoinPlan<B, P, R> plan = plan(env.clean(function));
        built.mark(uid);
        return new BulkPairJoin<>(build, probe, topology)
                .apply(plan, isPartitioned(), explain(), resultType);
    }

    private <R> SingleOutputStreamOperator<R> streaming(
            JoinFunction<B, P, R> function, TypeInformation<R> resultType) {
        JoinTopology topology = new JoinTopology(env, uid, badRecords);
        uid.requireUnused(env);
        topology.generation("build", generation);
        boolean partitioned = isPartitioned();
        BoundedInput.requireForLoad(
                "build",
                build,
                "Use a bounded source, or StarJoin with .completeAtWatermark(t), .changelog() or"
                        + " .versioned().");
        if (kind.keepsUnmatchedBuild()) {
            requireNotReplicated();
            requireReadOnce();
            BoundedInput.require("Probe side of a right or full join", probe);
        }
        topology.planChunks(kind.keepsUnmatchedBuild(), 1);
        PairJoinPlan<B, P, R> plan = plan(env.clean(function));
        built.mark(uid);
        SingleOutputStreamOperator<Chunk> packedBuild =
                pack(
                        build,
                        plan.build(),
                        packing(topology, "build", 0, partitioned),
                        topology.onEdges(
                                ChunkTypeInfo.ofDimensions(List.of(plan.build().schema()))),
                        FilterPlan.NONE,
                        topology.uid("pack", "build"));
        JoinExplanation explanation = explain(topology, plan.spec());
        DimensionExplanation explained = explanation.dimensions().get(0);
        FilterPlan filters =
                topology.filters(
                        explained.filter() == ReasonCode.FILTERS
                                ? List.of(
                                        new FilteringDimension(
                                                0,
                                                "build",
                                                plan.spec().dimensions().get(0).factKeyColumn(),
                                                explained.distribution()))
                                : List.of());
        SingleOutputStreamOperator<Chunk> packedProbe =
                pack(
                        probe,
                        plan.probe(),
                        packing(topology, "probe", ChunkDescriptor.FACTS, partitioned),
                        topology.onEdges(ChunkTypeInfo.of(plan.probe().schema())),
                        filters,
                        topology.uid("pack-probe"));
        packedProbe.setDescription("pack probe, " + explanation.filtersOfFacts());
        DataStream<Chunk> dimension =
                topology.dimension(
                        packedBuild,
                        plan.spec(),
                        0,
                        LoadMarkOperator.AT_THE_END,
                        topology.defaultLateRows(),
                        partitioned);
        Replicas replicas = Replicas.NONE;
        if (!partitioned) {
            long limit = topology.replicateMaxBytes();
            replicas =
                    new Replicas(
                            Map.of(
                                    0,
                                    distributionReason(false).limitsReplicas()
                                            ? limit
                                            : Replicas.UNLIMITED));
            dimension =
                    topology.replicas(
                            List.of(dimension),
                            Map.of(topology.uid("end-of-probes-0"), packedProbe),
                            plan.spec(),
                            replicas,
                            TimesToLive.NONE,
                            topology.defaultLateRows(),
                            columns(plan),
                            JoinExplanation.NONE);
        }
        return topology.join(
                List.of(dimension),
                topology.facts(packedProbe, "probe", partitioned),
                plan.spec(),
                columns(plan),
                explanation,
                null,
                TimesToLive.NONE,
                replicas,
                topology.defaultLateRows(),
                filters,
                ResultEmitters.function(plan.spec(), plan.build(), plan.probe(), plan.join()),
                resultType);
    }

    private JoinColumns columns(PairJoinPlan<B, P, ?> plan) {
        String key = RecordLayout.KEY + keys.ofBuild(nulls).layout().encodingText();
        return JoinColumns.of(plan.spec(), plan.probe().fields(), List.of(plan.build().fields()))
                .withCondition(0, key + " = " + key, kind.name())
                .withKeyCheck(new SelectedKeyCheck<>(plan.build(), keys.ofBuild(nulls)))
                .withFunctions(functions())
                .withGenerations(generations());
    }

    private Generations generations() {
        return new Generations(
                List.of(
                        new Generations.Side(
                                "build", generation, Upstream.of(build.getTransformation()))),
                Upstream.of(probe.getTransformation()));
    }

    /**
     * Returns the functions whose change a restore must detect. The keys in state already identify
     * the build side's selector.
     */
    private JoinFunctions functions() {
        return JoinFunctions.of(env.getConfiguration())
                .with("Key selector of the probe side", keys.probe(), "getKey")
                .with("Condition of the join", condition, "join");
    }

    /** Explains how the join will run, as far as that is known before it starts. */
    public JoinExplanation explain() {
        return isBulk()
                ? new BulkTopology(env, uid, badRecords)
                        .explain(List.of(explained(ReasonCode.BATCH_MODE)))
                : explain(new JoinTopology(env, uid, badRecords), plan(null).spec());
    }

    private <R> PairJoinPlan<B, P, R> plan(@Nullable JoinFunction<B, P, R> function) {
        return PairJoinPlan.of(build, probe, keys, nulls, kind, isBulk(), condition, function);
    }

    private JoinExplanation explain(JoinTopology topology, JoinSpec spec) {
        topology.planChunks(kind.keepsUnmatchedBuild(), 1);
        return topology.explain(spec, List.of(explained(filterReason(topology))));
    }

    private DimensionExplanation explained(ReasonCode filter) {
        return DimensionExplanation.planned(
                "build",
                kind.name(),
                isPartitioned() ? Distribution.PARTITIONED : Distribution.REPLICATED,
                distributionReason(isPartitioned()),
                filter,
                expectedBytes == Long.MAX_VALUE ? PartitionClass.UNKNOWN : expectedBytes);
    }

    private ReasonCode filterReason(JoinTopology topology) {
        if (!topology.filtersAreOn()) {
            return ReasonCode.FILTERS_OFF;
        }
        return kind.keepsUnmatchedProbe() ? ReasonCode.KEEPS_FACTS : ReasonCode.FILTERS;
    }

    private ReasonCode distributionReason(boolean partitioned) {
        if (kind.keepsUnmatchedBuild()) {
            return ReasonCode.KEEPS_BUILD_ROWS;
        }
        if (distribution != null) {
            return ReasonCode.ASKED;
        }
        if (expectedBytes == Long.MAX_VALUE) {
            return ReasonCode.SIZE_UNKNOWN;
        }
        return partitioned ? ReasonCode.OVER_LIMIT : ReasonCode.WITHIN_LIMIT;
    }

    private boolean isPartitioned() {
        return kind.keepsUnmatchedBuild()
                || distribution == Distribution.PARTITIONED
                || distribution == null
                        && expectedBytes > JoinConfig.replicateMaxBytes(env.getConfiguration());
    }

    private void requireNotReplicated() {
        if (distribution == Distribution.REPLICATED) {
            throw new IllegalArgumentException(
                    "Build side of a %s join cannot be replicated: uid=%s. Remove .replicated()."
                            .formatted(kind, uid.text()));
        }
    }

    private void requireReadOnce() {
        if (generation > 0) {
            throw new IllegalArgumentException(
                    "%s join '%s' keeps the matches of build rows in state, so it cannot read them again. Remove .buildGeneration(%d)."
                            .formatted(kind, uid.text(), generation));
        }
    }

    private static PackSpec packing(
            JoinTopology topology, String side, int dimension, boolean partitioned) {
        return new PackSpec(
                side,
                dimension,
                partitioned ? topology.partitions() : 0,
                0,
                topology.chunkBytes(),
                topology.flushIntervalMs(),
                topology.badRecords(),
                topology.receivers());
    }

    private static <T> SingleOutputStreamOperator<Chunk> pack(
            DataStream<T> stream,
            RecordLayout<T> layout,
            PackSpec packing,
            ChunkTypeInfo type,
            FilterPlan filters,
            String uid) {
        PackOperator<T> packer = new PackOperator<>(layout, null, packing);
        packer.pruneBy(filters);
        return UncopiedType.stream(stream)
                .transform("pack " + packing.side(), type, packer)
                .setParallelism(stream.getParallelism())
                .setBufferTimeout(0)
                .uid(uid);
    }
}
