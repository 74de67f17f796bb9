// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.reference.ReferenceJoinEngineFactory;
import io.github.gpujoin.cpu.CpuJoinEngineFactory;
import io.github.gpujoin.flink.api.data.ChunkTypeInfo;
import io.github.gpujoin.flink.api.explain.DimensionExplanation;
import io.github.gpujoin.flink.api.explain.JoinExplanation;
import io.github.gpujoin.flink.api.explain.ReasonCode;
import io.github.gpujoin.flink.api.options.BadRecords;
import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import io.github.gpujoin.flink.api.source.ColumnCondition;
import io.github.gpujoin.flink.config.JoinConfig;
import io.github.gpujoin.flink.emit.ResultEmitterFactory;
import io.github.gpujoin.flink.engine.DimensionPartitioning;
import io.github.gpujoin.flink.engine.EngineSelection;
import io.github.gpujoin.flink.exchange.ring.JoinSide;
import io.github.gpujoin.flink.exchange.ring.RingOptions;
import io.github.gpujoin.flink.exchange.ring.RingSendOperatorFactory;
import io.github.gpujoin.flink.exchange.ring.RingSendPartitioner;
import io.github.gpujoin.flink.filter.FilterPlan;
import io.github.gpujoin.flink.filter.FilteringDimension;
import io.github.gpujoin.flink.metrics.JoinReporting;
import io.github.gpujoin.flink.pack.PackSpec;
import io.github.gpujoin.flink.runtime.JoinSettings;
import io.github.gpujoin.flink.runtime.LateRowPolicy;
import io.github.gpujoin.flink.runtime.ReplicaOperatorFactory;
import io.github.gpujoin.flink.runtime.ReplicaSettings;
import io.github.gpujoin.flink.runtime.Replicas;
import io.github.gpujoin.flink.runtime.StarJoinOperatorFactory;
import io.github.gpujoin.flink.runtime.distribution.MeasuredDimension;
import io.github.gpujoin.flink.runtime.eventtime.EventTimeJoin;
import io.github.gpujoin.flink.runtime.expiry.DimensionTtl;
import io.github.gpujoin.flink.runtime.expiry.TimesToLive;
import io.github.gpujoin.flink.state.ExactlyOnce;
import io.github.gpujoin.flink.state.JoinColumns;
import io.github.gpujoin.kernels.gpu.GpuOptions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.SupportsSplitReassignmentOnRecovery;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.core.memory.ManagedMemoryUseCase;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SideOutputDataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.graph.StreamGraphHasherV2;
import org.apache.flink.streaming.api.transformations.OneInputTransformation;
import org.apache.flink.streaming.api.transformations.PartitionTransformation;
import org.apache.flink.streaming.api.transformations.SourceTransformation;
import org.apache.flink.streaming.api.transformations.TwoInputTransformation;
import org.apache.flink.streaming.runtime.partitioner.KeyGroupStreamPartitioner;
import org.apache.flink.types.Row;
import org.apache.flink.util.OutputTag;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Connects the packed sides of a join with the join operator.
 *
 * <pre>
 *   dimension 0 -- pack -- load completion -- send by partition -------+
 *   dimension 1 -- pack -- load completion -- replicas -- broadcast -- union -- join -- results
 *   dimension 2 -- pack -- load completion ------+                              |
 *                    end of probes --------------+                              |
 *   facts -------- pack --+-- forward, or send by partition --------------------+
 * </pre>
 *
 * <p>If the measured size chooses the distribution of a dimension, the job has the edges of both
 * distributions. The packer of facts sends them by partition until the dimension proves small, and
 * "replicas" sends the dimension's chunks to all subtasks or to the owners of their partitions.
 *
 * <p>Versions share the input of the facts, so that this input has the watermark and the idleness
 * of both. On the input of the other dimensions, a finished dimension could hide their watermarks
 * after a restore: Flink emits the largest watermark for a finished task, and an idle version
 * stream would leave the input's watermark at that maximum.
 *
 * <pre>
 *   other dimensions, or none -- load completion -- broadcast --+
 *   versions -- pack -- send by partition --+                   +-- join -- results
 *   facts ----- pack -- send by partition --+-- union ----------+
 * </pre>
 */
final class JoinTopology {

    private static final Logger LOG = LoggerFactory.getLogger(JoinTopology.class);

    /** Largest count of key groups for which a packer fills a chunk per key group. */
    private static final int MAX_CHUNKS_OF_KEY_GROUPS = 256;

    private final StreamExecutionEnvironment env;
    private final JoinUid uid;
    private final int maxParallelism;
    private final RingOptions rings;
    private final BadRecordStreams badRecords;

    /** Generation of each dimension that is read again, by name. */
    private final Map<String, Integer> generations = new HashMap<>();

    /** Reason for the chunks of partitioned sides. */
    private ReasonCode chunks = ReasonCode.FEW_KEY_GROUPS;

    /** Late rows that are detected before the join operator, by dimension. */
    private final Map<Integer, DataStream<Row>> lateAtSource = new HashMap<>();

    JoinTopology(StreamExecutionEnvironment env, JoinUid uid, BadRecordStreams badRecords) {
        JoinConfig.check(env.getConfiguration());
        ExactlyOnce.require(env.getCheckpointConfig());
        ExactlyOnce.keepSplits(env.getCheckpointConfig());
        this.env = env;
        this.uid = uid;
        this.badRecords = badRecords;
        int configured = env.getMaxParallelism();
        this.maxParallelism =
                configured > 0
                        ? configured
                        : KeyGroupRangeAssignment.computeDefaultMaxParallelism(
                                env.getParallelism());
        this.rings = RingOptions.of(env.getConfiguration(), uid.text(), maxParallelism);
    }

    /** Checks that no other join of the environment's job has the same uid. */
    void requireUnusedUid() {
        uid.requireUnused(env);
    }

    /**
     * Chooses whether a packer of a partitioned side fills one chunk per subtask of the join
     * ({@link ReasonCode#MANY_KEY_GROUPS}) or per key group.
     *
     * @param keyed whether the join stores build rows by key, and not only by partition
     * @param dimensions count of dimensions; if there are several, some are replicated
     */
    void planChunks(boolean keyed, int dimensions) {
        boolean unaligned = env.getConfiguration().get(CheckpointingOptions.ENABLE_UNALIGNED);
        if (maxParallelism <= MAX_CHUNKS_OF_KEY_GROUPS) {
            chunks = ReasonCode.FEW_KEY_GROUPS;
        } else if (unaligned && !rings.usesRings() && dimensions == 1) {
            chunks = ReasonCode.DIVIDED_BY_FLINK;
        } else if (keyed) {
            chunks = ReasonCode.KEYED_LOG;
        } else if (!env.isChainingEnabled()) {
            chunks = ReasonCode.NOT_CHAINED;
        } else {
            chunks = ReasonCode.MANY_KEY_GROUPS;
        }
    }

    /**
     * Returns {@link PackSpec#receivers()} of partitioned sides, according to {@link #planChunks}.
     */
    @Nullable String receivers() {
        return chunks == ReasonCode.MANY_KEY_GROUPS ? uid.text() : null;
    }

    /** Returns the count of radix partitions, one per key group. */
    int partitions() {
        return maxParallelism;
    }

    String uid(String part) {
        return uid.operator(part);
    }

    /** Returns the uid of an operator of one side. Each generation of a side has a new one. */
    String uid(String part, String side) {
        Integer generation = generations.get(side);
        return uid(part) + "-" + side + (generation == null ? "" : "-" + generation);
    }

    /**
     * Sets how often a dimension is read again.
     *
     * @param generation 0 if it is read once only
     */
    void generation(String dimension, int generation) {
        if (generation > 0) {
            generations.put(dimension, generation);
        }
    }

    int chunkBytes() {
        return JoinConfig.chunkBytes(env.getConfiguration());
    }

    /** Returns the type of chunks on the job's edges, encoded or not as the job's option says. */
    ChunkTypeInfo onEdges(ChunkTypeInfo type) {
        return type.withEncoding(env.getConfiguration().get(GpuJoinOptions.ENCODE_NETWORK));
    }

    /** Returns the policy of packers for records that they cannot read. */
    BadRecords badRecords() {
        return badRecords.isWanted()
                ? BadRecords.SKIP
                : env.getConfiguration().get(GpuJoinOptions.BAD_RECORDS);
    }

    long flushIntervalMs() {
        return JoinConfig.flushIntervalMs(env.getConfiguration());
    }

    private long groupIntervalMs() {
        return JoinConfig.groupIntervalMs(env.getConfiguration());
    }

    long replicateMaxBytes() {
        return JoinConfig.replicateMaxBytes(env.getConfiguration());
    }

    /**
     * Adds the operator that marks the completeness of a dimension, and the edge of its chunks.
     *
     * @param number index of the dimension
     */
    DataStream<Chunk> dimension(
            SingleOutputStreamOperator<Chunk> packed,
            JoinSpec spec,
            int number,
            long completeAtWatermark,
            LateRowPolicy lateRows,
            boolean partitioned) {
        badRecords.add(packed);
        String name = spec.dimensions().get(number).name();
        SingleOutputStreamOperator<Chunk> chunks =
                load(
                        packed,
                        name,
                        completeAtWatermark,
                        new LoadMarkOperator.Loaded(
                                spec, number, maxParallelism, lateRows, keepsSplits(packed)));
        OutputTag<Row> tag = lateRows.sideOutputs().get(number);
        if (tag != null) {
            lateAtSource.put(number, chunks.getSideOutput(tag));
        }
        return partitioned ? byPartition(chunks, name, JoinSide.BUILD) : byKey(chunks);
    }

    private static boolean keepsSplits(DataStream<?> dimension) {
        for (Transformation<?> each : dimension.getTransformation().getTransitivePredecessors()) {
            if (each instanceof SourceTransformation<?, ?, ?> source
                    && source.getSource() instanceof SupportsSplitReassignmentOnRecovery) {
                return false;
            }
        }
        return true;
    }

    private SingleOutputStreamOperator<Chunk> load(
            DataStream<Chunk> chunks,
            String name,
            long completeAtWatermark,
            LoadMarkOperator.Loaded dimension) {
        return chunks.transform(
                        "load " + name,
                        chunks.getType(),
                        new LoadMarkOperator(completeAtWatermark, dimension))
                .setParallelism(chunks.getParallelism())
                .uid(uid("load", name));
    }

    /**
     * Adds the build input of a join whose only dimension is versioned. The input has no rows, and
     * is complete from the start.
     *
     * @param versions packer whose task contains the operator
     * @param number index of the versioned dimension
     */
    DataStream<Chunk> noDimension(
            SingleOutputStreamOperator<Chunk> versions, JoinSpec spec, int number) {
        OutputTag<Chunk> none = new OutputTag<>("none", versions.getType());
        SingleOutputStreamOperator<Chunk> marks =
                load(
                        versions.getSideOutput(none),
                        spec.dimensions().get(number).name(),
                        LoadMarkOperator.FROM_THE_START,
                        new LoadMarkOperator.Loaded(
                                spec, number, maxParallelism, defaultLateRows(), true));
        // With a broadcast or pointwise edge, Flink would checkpoint all edges aligned.
        return byKey(marks);
    }

    private DataStream<Chunk> byKey(DataStream<Chunk> chunks) {
        return new DataStream<>(
                env,
                new PartitionTransformation<>(
                        chunks.getTransformation(),
                        new KeyGroupStreamPartitioner<>(
                                new PartitionKeySelector(maxParallelism), maxParallelism)));
    }

    /**
     * Adds the operator that logs replicated dimensions, and sends their chunks to each subtask of
     * the join.
     *
     * @param dimensions results of {@link #dimension}
     * @param outlived packers of facts, versions and the partitioned dimension, by the uid of the
     *     operator that connects them. The log must not end before them, as facts wait for all
     *     dimensions.
     * @param ttls times to live of all dimensions
     */
    DataStream<Chunk> replicas(
            List<DataStream<Chunk>> dimensions,
            Map<String, SingleOutputStreamOperator<Chunk>> outlived,
            JoinSpec spec,
            Replicas replicas,
            TimesToLive ttls,
            LateRowPolicy lateRows,
            JoinColumns columns,
            int partitionedDimension) {
        TypeInformation<Chunk> type = dimensions.get(0).getType();
        List<DataStream<Chunk>> inputs = new ArrayList<>(dimensions);
        outlived.forEach((uid, packer) -> inputs.add(end(packer, type, uid)));
        ReplicaSettings settings =
                new ReplicaSettings(
                        spec,
                        replicas,
                        maxParallelism,
                        ttls.dimensions().stream()
                                .filter(ttl -> replicas.dimensions().contains(ttl.dimension()))
                                .map(DimensionTtl::byPartition)
                                .toList(),
                        lateRows,
                        columns,
                        partitionedDimension);
        OneInputTransformation<Chunk, Chunk> log =
                new OneInputTransformation<>(
                        union(inputs).getTransformation(),
                        "replicas",
                        new ReplicaOperatorFactory(settings),
                        type,
                        env.getParallelism());
        log.setStateKeySelector(new PartitionKeySelector(maxParallelism));
        log.setStateKeyType(Types.INT);
        log.setMaxParallelism(maxParallelism);
        log.setBufferTimeout(0);
        log.setUid(uid("replicas"));
        env.addOperator(log);
        SingleOutputStreamOperator<Chunk> logged = new OperatorStream<>(env, log);
        for (int d : replicas.dimensions()) {
            OutputTag<Row> tag = lateRows.sideOutputs().get(d);
            if (tag != null) {
                lateAtSource.merge(d, logged.getSideOutput(tag), DataStream::union);
            }
        }
        DataStream<Chunk> replicated = logged.broadcast();
        return replicas.measured() == null
                ? replicated
                : replicated.union(byKey(logged.getSideOutput(MeasuredDimension.partitions(type))));
    }

    private static DataStream<Chunk> union(List<DataStream<Chunk>> streams) {
        DataStream<Chunk> first = streams.get(0);
        List<DataStream<Chunk>> others = streams.subList(1, streams.size());
        return others.isEmpty() ? first : first.union(others.toArray(DataStream[]::new));
    }

    /**
     * Adds an edge without chunks. It is broadcast, so that Flink checkpoints all edges into the
     * operator aligned.
     */
    private static DataStream<Chunk> end(
            SingleOutputStreamOperator<Chunk> packed, TypeInformation<Chunk> type, String uid) {
        return packed.getSideOutput(new OutputTag<>("none", type))
                .transform("end of probes", type, new EndOfInputForwarder())
                .setParallelism(packed.getParallelism())
                .uid(uid)
                .broadcast();
    }

    /**
     * Returns the plan of filters of the facts, unless they are switched off.
     *
     * @param dimensions whose keys filter
     * @param facts with their own conditions, which only a linked source applies
     */
    FilterPlan filters(List<FilteringDimension> dimensions, JoinInput<?> facts) {
        return facts.sourceLink() == null
                ? filters(dimensions)
                : filters(facts.sourceLink(), dimensions, facts.columnConditions());
    }

    /** Returns the plan of filters by the keys of some dimensions, unless they are switched off. */
    FilterPlan filters(List<FilteringDimension> dimensions) {
        // The uid alone may be that of another join of tables.
        return filters(uid.text() + "/" + UUID.randomUUID(), dimensions, List.of());
    }

    /**
     * Whether dimensions filter the facts where they can. With Flink's approximate local recovery,
     * a subtask of the join may restart and read other dimensions while the tasks that send it
     * facts keep the filters of its earlier attempt.
     */
    boolean filtersAreOn() {
        return env.getConfiguration().get(GpuJoinOptions.FACT_FILTERS)
                && !env.getCheckpointConfig().isApproximateLocalRecoveryEnabled();
    }

    private FilterPlan filters(
            String join, List<FilteringDimension> dimensions, List<ColumnCondition> conditions) {
        ReadableConfig config = env.getConfiguration();
        return filtersAreOn()
                ? new FilterPlan(
                        join,
                        new OperatorID(StreamGraphHasherV2.generateUserSpecifiedHash(uid("join"))),
                        dimensions,
                        JoinConfig.factFilterMaxBytes(config),
                        conditions)
                : FilterPlan.NONE;
    }

    /** Returns the policy of dimensions without a side output of late rows. */
    LateRowPolicy defaultLateRows() {
        return LateRowPolicy.of(env.getConfiguration().get(GpuJoinOptions.LATE_DIMENSION_ROWS));
    }

    /** Adds the edge of a versioned dimension, which is never complete. */
    DataStream<Chunk> versions(SingleOutputStreamOperator<Chunk> packed, String name) {
        badRecords.add(packed);
        return byPartition(packed, name, JoinSide.BUILD);
    }

    /** Adds the edge of facts: to the owners of their partitions, or forward. */
    DataStream<Chunk> facts(
            SingleOutputStreamOperator<Chunk> packed, String name, boolean partitioned) {
        badRecords.add(packed);
        return partitioned ? byPartition(packed, name, JoinSide.PROBE) : packed;
    }

    /**
     * Adds the edges of facts of a measured join: to the owners of partitions, and forward once the
     * dimension proves small.
     */
    DataStream<Chunk> measuredFacts(SingleOutputStreamOperator<Chunk> packed, String name) {
        badRecords.add(packed);
        SideOutputDataStream<Chunk> partitions =
                packed.getSideOutput(MeasuredDimension.partitions(packed.getType()));
        return packed.union(byPartition(partitions, name, JoinSide.PROBE));
    }

    /**
     * Adds the operator and the edge that send each chunk to the owner of its partition.
     *
     * @param name of the side, for the operator
     */
    private DataStream<Chunk> byPartition(DataStream<Chunk> chunks, String name, JoinSide side) {
        DataStream<Chunk> sent =
                chunks.transform(
                                "send " + name,
                                chunks.getType(),
                                new RingSendOperatorFactory(rings, side))
                        .setParallelism(chunks.getParallelism())
                        .setBufferTimeout(0)
                        .uid(uid("send", name));
        RingSendPartitioner partitioner =
                new RingSendPartitioner(
                        new PartitionKeySelector(maxParallelism), maxParallelism, uid.text(), side);
        if (this.chunks == ReasonCode.MANY_KEY_GROUPS) {
            // After a rescale, Flink could not divide a chunk of a snapshot among several owners.
            partitioner.disableUnalignedCheckpoints();
        }
        if (rings.usesRings()) {
            partitioner.disableUnalignedCheckpoints();
            LOG.info(
                    "Rings disable unaligned checkpoints on an edge into the join: join={}, side={},"
                            + " transport={}.",
                    uid("join"),
                    name,
                    rings.description());
        }
        return new DataStream<>(
                env, new PartitionTransformation<>(sent.getTransformation(), partitioner));
    }

    /**
     * Explains how the join will run.
     *
     * @param dimensions without their engine
     */
    JoinExplanation explain(JoinSpec spec, List<DimensionExplanation> dimensions) {
        return Explanations.planned(env.getConfiguration(), rings, spec, dimensions)
                .withChunks(chunks);
    }

    /**
     * Adds the join operator.
     *
     * @param columns of {@code spec}, with their Flink types
     * @param plan explanation, which is logged
     * @param eventTime null if facts are joined in the order of arrival
     */
    @SuppressWarnings("unchecked")
    <OUT> SingleOutputStreamOperator<OUT> join(
            List<DataStream<Chunk>> dimensions,
            DataStream<Chunk> facts,
            JoinSpec spec,
            JoinColumns columns,
            JoinExplanation plan,
            @Nullable EventTimeJoin eventTime,
            TimesToLive ttls,
            Replicas replicas,
            LateRowPolicy lateRows,
            FilterPlan filters,
            ResultEmitterFactory<OUT> emitter,
            TypeInformation<OUT> resultType) {
        LOG.info("{}", plan);
        badRecords.emitAll();
        TwoInputTransformation<Chunk, Chunk, OUT> join =
                new TwoInputTransformation<>(
                        union(dimensions).getTransformation(),
                        facts.getTransformation(),
                        uid.text(),
                        new StarJoinOperatorFactory<>(
                                new JoinSettings(
                                        spec,
                                        engines(plan.partitionedDimension(), spec.hasChangelog()),
                                        maxParallelism,
                                        groupIntervalMs(),
                                        rings,
                                        new JoinReporting(
                                                plan,
                                                env.getConfiguration().get(GpuJoinOptions.METRICS),
                                                JoinConfig.fanOutWarning(env.getConfiguration())),
                                        eventTime,
                                        ttls.without(replicas.dimensions()),
                                        replicas,
                                        lateRows,
                                        columns,
                                        filters),
                                emitter),
                        resultType,
                        env.getParallelism());
        // The operator sets its keys itself; Flink only provides keyed state if there is a
        // selector.
        join.setStateKeySelectors(null, new PartitionKeySelector(maxParallelism));
        join.setStateKeyType(Types.INT);
        join.setMaxParallelism(maxParallelism);
        join.setUid(uid("join"));
        join.setDescription(uid.text() + ", " + plan.filtersOfFacts());
        if (reservesMemory(spec)) {
            join.declareManagedMemoryUseCaseAtOperatorScope(
                    ManagedMemoryUseCase.OPERATOR,
                    JoinConfig.managedMemoryWeight(env.getConfiguration()));
        }
        env.addOperator(join);
        return new OperatorStream<>(env, join);
    }

    /** Whether tables, rings or the codes of text groups need managed memory. */
    private boolean reservesMemory(JoinSpec spec) {
        ReadableConfig config = env.getConfiguration();
        return config.get(GpuJoinOptions.ENGINE) != GpuJoinOptions.Engine.REFERENCE
                || !config.get(GpuJoinOptions.TRANSPORT).equals(RingOptions.FLINK)
                || spec.hasTextGroups();
    }

    /**
     * Returns the late rows of a dimension: those that its own operator detected, and those of
     * sources that were idle when the dimension was complete.
     *
     * @param join result of {@link #join}
     * @param number index of a dimension with a side output
     */
    DataStream<Row> lateRows(
            SingleOutputStreamOperator<?> join, int number, LateRowPolicy lateRows) {
        return lateAtSource
                .remove(number)
                .union(join.getSideOutput(lateRows.sideOutputs().get(number)));
    }

    /**
     * Returns the engines of the join. A partitioned dimension without a changelog uses GPU and CPU
     * at the same time; a changelog cannot, since a change would have to reach several copies of a
     * row at once.
     */
    private EngineSelection engines(int partitionedDimension, boolean changes) {
        ReadableConfig config = env.getConfiguration();
        EngineSelection selection = engines().within(JoinConfig.cpuMemoryBytes(config));
        boolean divides =
                partitionedDimension != JoinExplanation.NONE
                        && !changes
                        && config.get(GpuJoinOptions.ENGINE) != GpuJoinOptions.Engine.REFERENCE;
        return divides
                ? selection.dividing(
                        new DimensionPartitioning(
                                partitionedDimension,
                                JoinConfig.partitionGroups(config),
                                JoinConfig.spillDelayMs(config)))
                : selection;
    }

    private EngineSelection engines() {
        ReadableConfig config = env.getConfiguration();
        JoinEngineFactory cpu = CpuJoinEngineFactory.managed();
        GpuOptions gpu = JoinConfig.gpuOptions(config).ofOneJoin();
        return switch (config.get(GpuJoinOptions.ENGINE)) {
            case AUTO -> EngineSelection.gpu(gpu, false, cpu);
            case GPU -> EngineSelection.gpu(gpu, true, cpu);
            case CPU -> EngineSelection.only(cpu);
            case REFERENCE -> EngineSelection.only(new ReferenceJoinEngineFactory());
        };
    }
}
