// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import io.github.gpujoin.core.engine.FactFilter;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.flink.api.data.ChunkTypeInfo;
import io.github.gpujoin.flink.api.explain.DimensionExplanation;
import io.github.gpujoin.flink.api.explain.Distribution;
import io.github.gpujoin.flink.api.explain.JoinExplanation;
import io.github.gpujoin.flink.api.explain.ReasonCode;
import io.github.gpujoin.flink.emit.ChunkRows;
import io.github.gpujoin.flink.emit.GroupFields;
import io.github.gpujoin.flink.emit.HashedDimension;
import io.github.gpujoin.flink.emit.OutputField;
import io.github.gpujoin.flink.emit.ResultColumns;
import io.github.gpujoin.flink.emit.ResultEmitterFactory;
import io.github.gpujoin.flink.emit.ResultEmitters;
import io.github.gpujoin.flink.filter.FilterPlan;
import io.github.gpujoin.flink.filter.FilteringDimension;
import io.github.gpujoin.flink.pack.AbstractPackOperator;
import io.github.gpujoin.flink.plan.JoinInput.Packed;
import io.github.gpujoin.flink.record.RecordLayout;
import io.github.gpujoin.flink.runtime.LateRowPolicy;
import io.github.gpujoin.flink.runtime.Replicas;
import io.github.gpujoin.flink.runtime.distribution.MeasuredDimension;
import io.github.gpujoin.flink.runtime.eventtime.EventTimeJoin;
import io.github.gpujoin.flink.runtime.expiry.DimensionTtl;
import io.github.gpujoin.flink.runtime.expiry.TimesToLive;
import io.github.gpujoin.flink.state.Generations;
import io.github.gpujoin.flink.state.Generations.Upstream;
import io.github.gpujoin.flink.state.JoinColumns;
import io.github.gpujoin.flink.state.JoinFunctions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.types.Row;
import org.apache.flink.util.OutputTag;
import org.jspecify.annotations.Nullable;

/** Builds the operators of a star join in streaming mode from its description. */
final class StarJoinPipeline implements StarPipeline {

    private static final int NONE = JoinExplanation.NONE;

    private final JoinUid uid;
    private final JoinInput<?> facts;
    private final List<DimensionInput<?>> dimensions;
    private final JoinInputs sides;
    private final @Nullable Grouping grouping;
    private final JoinTopology topology;
    private final int partitionedDimension;

    /** Index of the dimension whose measured size chooses its distribution, or none. */
    private final int measuredDimension;

    private final PackedInputs packed;
    private final JoinSpec spec;

    /**
     * Checks the description, and plans the join.
     *
     * @param grouping null if the results are rows
     * @throws IllegalArgumentException if the description is incomplete or contradictory
     */
    StarJoinPipeline(
            JoinUid uid,
            JoinInput<?> facts,
            List<DimensionInput<?>> dimensions,
            @Nullable Grouping grouping,
            BadRecordStreams badRecords) {
        this.uid = uid;
        this.facts = facts;
        this.dimensions = List.copyOf(dimensions);
        this.topology = new JoinTopology(facts.stream().getExecutionEnvironment(), uid, badRecords);
        this.grouping = grouping;
        this.sides = JoinInputs.of(uid, facts, dimensions);
        dimensions.forEach(d -> topology.generation(d.input().name(), d.generation()));
        if (grouping != null) {
            grouping.useColumns(sides);
        }
        this.partitionedDimension = partitionedDimension();
        this.measuredDimension = measuredDimension();
        this.packed =
                new PackedInputs(
                        sides,
                        partitionedDimension == NONE ? measuredDimension : partitionedDimension,
                        grouping != null,
                        topology);
        this.spec =
                new JoinSpec(
                        packed.facts().schema(),
                        packed.specs(),
                        factFilters(),
                        grouping == null ? null : grouping.aggregation(sides, packed::of),
                        packed.facts().schema().indexOf(RecordLayout.NULL_KEYS));
    }

    @Override
    public SingleOutputStreamOperator<Row> toPartialGroups() {
        GroupFields fields = grouping.fields(sides, packed::of);
        return join(ResultEmitters.groups(fields), fields.rowType());
    }

    @Override
    public SingleOutputStreamOperator<Row> toGroups() {
        GroupFields fields = grouping.fields(sides, packed::of);
        return GroupTotals.of(
                toPartialGroups(), fields, grouping.definition(sides), topology.uid("groups"));
    }

    @Override
    public SingleOutputStreamOperator<Row> toRows() {
        ResultColumns columns = resultColumns();
        return join(ResultEmitters.rows(columns), columns.rowType());
    }

    @Override
    public <T> SingleOutputStreamOperator<T> toRecords(TypeInformation<T> type) {
        return join(ResultEmitters.records(resultColumns(), type), type);
    }

    @Override
    public SingleOutputStreamOperator<Chunk> toChunks(boolean keepsEncoding) {
        ResultColumns columns = resultColumns();
        return join(
                ResultEmitters.chunks(columns, topology.chunkBytes(), keepsEncoding),
                ChunkTypeInfo.of(columns.schema()));
    }

    @Override
    public JoinExplanation explain() {
        List<DimensionExplanation> explained = new ArrayList<>();
        for (int d = 0; d < dimensions.size(); d++) {
            DimensionInput<?> side = dimensions.get(d);
            explained.add(
                    DimensionExplanation.planned(
                            side.input().name(),
                            side.kind().name(),
                            distribution(d),
                            distributionReason(d),
                            topology.filtersAreOn() ? filterReason(d) : ReasonCode.FILTERS_OFF,
                            side.expectedBytes()));
        }
        return topology.explain(spec, explained)
                .withTextGroups(textGroups())
                .withSourceConditions(sourceConditions());
    }

    /** Returns the predicates that the source of the facts receives, in the terms of the user. */
    private List<String> sourceConditions() {
        return topology.filters(List.of(), facts).conditions().stream()
                .map(condition -> condition.column() + " " + condition.values())
                .toList();
    }

    private List<String> textGroups() {
        return grouping == null ? List.of() : grouping.textColumns(sides, packed::of);
    }

    private Distribution distribution(int dimension) {
        if (dimension == measuredDimension) {
            return Distribution.MEASURED;
        }
        return dimension == partitionedDimension
                ? Distribution.PARTITIONED
                : Distribution.REPLICATED;
    }

    private ReasonCode distributionReason(int dimension) {
        if (dimension == measuredDimension) {
            return ReasonCode.MEASURED_WHILE_LOADED;
        }
        return dimensions
                .get(dimension)
                .distributionReason(
                        dimension == partitionedDimension, topology.replicateMaxBytes());
    }

    /**
     * Returns the partitioned dimension, whose key partitions the facts, or none. It is the largest
     * dimension above the limit of replication, unless the job fixes another one.
     */
    private int partitionedDimension() {
        int chosen = NONE;
        for (int d = 0; d < dimensions.size(); d++) {
            DimensionInput<?> dimension = dimensions.get(d);
            if (!dimension.isPartitioned(topology.replicateMaxBytes())) {
                continue;
            }
            if (chosen == NONE) {
                chosen = d;
                continue;
            }
            DimensionInput<?> other = dimensions.get(chosen);
            if (dimension.isDistributionFixed() && other.isDistributionFixed()) {
                throw new IllegalArgumentException(
                        "Two dimensions are partitioned: %s. Remove .partitioned() from one of them."
                                .formatted(
                                        List.of(other.input().name(), dimension.input().name())));
            }
            boolean wins =
                    dimension.isDistributionFixed()
                            || !other.isDistributionFixed()
                                    && dimension.expectedBytes() > other.expectedBytes();
            chosen = wins ? d : chosen;
        }
        return chosen;
    }

    /**
     * Returns the dimension that becomes partitioned if its measured size exceeds the limit, or
     * none. Only one dimension can be partitioned, so it is the one with the largest expected size,
     * or the first.
     */
    private int measuredDimension() {
        int chosen = NONE;
        for (int d = 0; d < dimensions.size() && partitionedDimension == NONE; d++) {
            DimensionInput<?> dimension = dimensions.get(d);
            if (dimension.isMeasurable(topology.replicateMaxBytes())
                    && (chosen == NONE || dimension.isExpectedLargerThan(dimensions.get(chosen)))) {
                chosen = d;
            }
        }
        return chosen;
    }

    private List<FactFilter> factFilters() {
        facts.columnFilters()
                .forEach(filter -> requireNotNull(packed.facts(), filter.column(), "filter"));
        return facts.columnFilters().stream()
                .map(f -> new FactFilter(packed.facts().column(f.column()), f.values()))
                .toList();
    }

    /** Rejects a key column whose nulls are kept. The value of a null in it is undefined. */
    static void requireNotNull(Packed side, String column, String user) {
        if (side.nullKeyBits(column) != 0) {
            throw new IllegalArgumentException(
                    "A %s uses the key of a left or anti join, which may be null: column=%s. Use another column."
                            .formatted(user, column));
        }
    }

    private ResultColumns resultColumns() {
        List<OutputField> fields = new ArrayList<>();
        addFields(fields, facts, ChunkDescriptor.FACTS, packed.facts());
        for (int d = 0; d < dimensions.size(); d++) {
            addFields(fields, dimensions.get(d).input(), d, packed.dimensions().get(d));
        }
        if (fields.isEmpty()) {
            throw new IllegalArgumentException(
                    "Join selects no columns: uid=%s. Add .select(...) or .groupBy(...)."
                            .formatted(uid.text()));
        }
        return ResultColumns.of(spec, fields);
    }

    private static void addFields(
            List<OutputField> fields, JoinInput<?> side, int number, Packed packed) {
        for (Selection selection : side.selections()) {
            int column = packed.column(selection.column());
            fields.add(
                    new OutputField(
                            selection.name(),
                            number,
                            column,
                            packed.fields().get(column),
                            packed.nullKeyBits(selection.column())));
        }
    }

    private <OUT> SingleOutputStreamOperator<OUT> join(
            ResultEmitterFactory<OUT> emitter, TypeInformation<OUT> type) {
        // Refusals come first: operators of a refused join would stay in the environment.
        long[] completeAtWatermarks = completeAtWatermarks();
        TimesToLive ttls = ttls();
        EventTimeJoin eventTime = eventTime();
        LateRowPolicy lateRows = lateRows();
        topology.requireUnusedUid();
        dimensions.forEach(DimensionInput::markJoined);
        facts.built().mark(uid);
        if (grouping != null) {
            grouping.built().mark(uid);
        }
        List<ChunkSchema> schemas = packed.dimensions().stream().map(Packed::schema).toList();
        ChunkTypeInfo buildType = topology.onEdges(ChunkTypeInfo.ofDimensions(schemas));
        List<DataStream<Chunk>> build = new ArrayList<>();
        List<DataStream<Chunk>> replicated = new ArrayList<>();
        Map<String, SingleOutputStreamOperator<Chunk>> outlived = new LinkedHashMap<>();
        for (int d = 0; d < dimensions.size(); d++) {
            if (!dimensions.get(d).isVersioned()) {
                SingleOutputStreamOperator<Chunk> dimension = pack(d, buildType);
                if (d == partitionedDimension) {
                    String name = dimensions.get(d).input().name();
                    outlived.put(topology.uid("end-of-dimension", name), dimension);
                }
                (d == partitionedDimension ? build : replicated)
                        .add(
                                topology.dimension(
                                        dimension,
                                        spec,
                                        d,
                                        completeAtWatermarks[d],
                                        lateRows,
                                        d == partitionedDimension));
            }
        }
        int versioned = sides.versionedDimension();
        ChunkSchema factSchema = packed.facts().schema();
        ChunkTypeInfo probeType =
                topology.onEdges(
                        versioned == NONE
                                ? ChunkTypeInfo.of(factSchema)
                                : ChunkTypeInfo.ofFactsAndDimensions(factSchema, schemas));
        Replicas replicas = replicas();
        FilterPlan filters = topology.filters(filteringDimensions(), facts);
        ((AbstractPackOperator<?, ?>) packed.facts().packer()).pruneBy(filters);
        if (eventTime != null && eventTime.joinsLateRows()) {
            // A later watermark changes results only of rows that are late.
            ((AbstractPackOperator<?, ?>) packed.facts().packer()).holdWatermarks();
            ((AbstractPackOperator<?, ?>) packed.dimensions().get(versioned).packer())
                    .holdWatermarks();
        }
        SingleOutputStreamOperator<Chunk> factChunks =
                facts.transform(
                        packed.facts(), probeType, topology.uid("pack-facts"), replicas.measured());
        factChunks.setDescription("pack facts, " + explain().filtersOfFacts());
        DataStream<Chunk> probe =
                measuredDimension == NONE
                        ? topology.facts(factChunks, "facts", partitionedDimension != NONE)
                        : topology.measuredFacts(factChunks, "facts");
        outlived.put(topology.uid("end-of-probes-0"), factChunks);
        if (versioned != NONE) {
            String name = dimensions.get(versioned).input().name();
            SingleOutputStreamOperator<Chunk> versions = pack(versioned, probeType);
            outlived.put(topology.uid("end-of-probes-1"), versions);
            probe = probe.union(topology.versions(versions, name));
            if (replicated.isEmpty() && build.isEmpty()) {
                build.add(topology.noDimension(versions, spec, versioned));
            }
        }
        if (!replicated.isEmpty()) {
            build.add(
                    topology.replicas(
                            replicated,
                            outlived,
                            spec,
                            replicas,
                            ttls,
                            lateRows,
                            columns(),
                            partitionedDimension));
        }
        List<HashedDimension> verified = packed.verified();
        SingleOutputStreamOperator<OUT> results =
                topology.join(
                        build,
                        probe,
                        spec,
                        columns(),
                        explain(),
                        eventTime,
                        ttls,
                        replicas,
                        lateRows,
                        filters,
                        verified.isEmpty()
                                ? emitter
                                : ResultEmitters.verified(spec, verified, emitter),
                        type);
        for (int d : lateRows.sideOutputs().keySet()) {
            dimensions.get(d).lateRows().accept(topology.lateRows(results, d, lateRows));
        }
        return results;
    }

    /**
     * Returns the watermark that completes each dimension, 0 for a versioned one.
     *
     * @throws IllegalArgumentException if the rows of a dimension have no end
     */
    private long[] completeAtWatermarks() {
        return dimensions.stream()
                .mapToLong(d -> d.isVersioned() ? 0 : d.completeAtWatermark())
                .toArray();
    }

    /**
     * Returns the filters of dimensions. State contains the rows that passed them, so a restore
     * must detect a change. Filters of facts may change.
     */
    private JoinFunctions functions() {
        JoinFunctions functions =
                JoinFunctions.of(facts.stream().getExecutionEnvironment().getConfiguration());
        for (DimensionInput<?> dimension : dimensions) {
            JoinInput<?> input = dimension.input();
            String role = JoinFunctions.filterOf(input.name());
            functions = functions.with(role, input.filter(), "filter");
        }
        return functions;
    }

    private JoinColumns columns() {
        JoinColumns columns =
                JoinColumns.of(
                        spec,
                        packed.facts().fields(),
                        packed.dimensions().stream().map(Packed::fields).toList());
        for (int d = 0; d < dimensions.size(); d++) {
            String key = columns.sides().get(d + 1).key();
            columns = columns.withCondition(d, key, dimensions.get(d).kind().name());
        }
        return columns.withFunctions(functions()).withGenerations(generations());
    }

    /**
     * Returns the dimensions whose keys filter facts, because they do not change. An event-time
     * join also emits late facts, which may have no match.
     */
    private List<FilteringDimension> filteringDimensions() {
        List<FilteringDimension> filtering = new ArrayList<>();
        for (int d = 0; d < dimensions.size(); d++) {
            if (filterReason(d) == ReasonCode.FILTERS) {
                filtering.add(
                        new FilteringDimension(
                                d,
                                dimensions.get(d).input().name(),
                                spec.dimensions().get(d).factKeyColumn(),
                                distribution(d)));
            }
        }
        return filtering;
    }

    private ReasonCode filterReason(int dimension) {
        DimensionInput<?> side = dimensions.get(dimension);
        if (sides.versionedDimension() != NONE) {
            return ReasonCode.HAS_VERSIONS;
        }
        if (side.kind().keepsUnmatched()) {
            return ReasonCode.KEEPS_FACTS;
        }
        if (side.input().isChangelog()) {
            return ReasonCode.DIMENSION_CHANGES;
        }
        return ReasonCode.FILTERS;
    }

    /**
     * Returns the replicated dimensions. Those that are replicated by default have a size limit.
     */
    private Replicas replicas() {
        Map<Integer, Long> maxBytes = new HashMap<>();
        long limit = topology.replicateMaxBytes();
        for (int d = 0; d < dimensions.size(); d++) {
            if (d != partitionedDimension && !dimensions.get(d).isVersioned()) {
                ReasonCode reason = dimensions.get(d).distributionReason(false, limit);
                maxBytes.put(d, reason.limitsReplicas() ? limit : Replicas.UNLIMITED);
            }
        }
        return new Replicas(maxBytes, measured(limit));
    }

    /** Returns the measured dimension, or null if there is none. */
    private @Nullable MeasuredDimension measured(long limit) {
        return measuredDimension == NONE
                ? null
                : new MeasuredDimension(
                        topology.uid("join"),
                        measuredDimension,
                        dimensions.get(measuredDimension).input().name(),
                        limit);
    }

    private Generations generations() {
        return new Generations(
                dimensions.stream().map(StarJoinPipeline::generation).toList(),
                Upstream.of(facts.stream().getTransformation()));
    }

    private static Generations.Side generation(DimensionInput<?> dimension) {
        return new Generations.Side(
                dimension.input().name(),
                dimension.generation(),
                Upstream.of(dimension.input().stream().getTransformation()));
    }

    private LateRowPolicy lateRows() {
        Map<Integer, OutputTag<Row>> tags = new HashMap<>();
        for (int d = 0; d < dimensions.size(); d++) {
            if (dimensions.get(d).lateRows() != null) {
                tags.put(
                        d,
                        new OutputTag<>(
                                topology.uid("late-rows", dimensions.get(d).input().name()),
                                ChunkRows.typeOf(packed.dimensions().get(d).schema())));
            }
        }
        return new LateRowPolicy(topology.defaultLateRows().otherwise(), tags);
    }

    private SingleOutputStreamOperator<Chunk> pack(int dimension, ChunkTypeInfo type) {
        JoinInput<?> input = dimensions.get(dimension).input();
        Packed of = packed.dimensions().get(dimension);
        String uid = topology.uid("pack", input.name());
        return input.isChangelog() && dimension != partitionedDimension && !hasOneSubtask(input)
                ? input.transformByKey(packed.key(dimension), of, type, uid)
                : input.transform(of, type, uid);
    }

    /**
     * Whether the input has one subtask in each run. A parallelism of 1 does not suffice, since
     * Flink may override it when the job starts.
     */
    private static boolean hasOneSubtask(JoinInput<?> input) {
        return input.stream().getTransformation().getMaxParallelism() == 1;
    }

    private TimesToLive ttls() {
        List<DimensionTtl> ttls = new ArrayList<>();
        for (int d = 0; d < dimensions.size(); d++) {
            Duration ttl = dimensions.get(d).ttl();
            if (ttl != null) {
                int column = packed.dimensions().get(d).column(RecordLayout.TIMESTAMP);
                ttls.add(new DimensionTtl(d, column, ttl.toMillis(), d == partitionedDimension));
            }
        }
        if (facts.ttl() != null && sides.versionedDimension() != NONE) {
            throw new IllegalArgumentException(
                    "Time to live on facts of a versioned dimension: ttl=%s. Remove .ttl(...)."
                            .formatted(facts.ttl()));
        }
        long factsMs = facts.ttl() == null ? TimesToLive.FOREVER : facts.ttl().toMillis();
        return new TimesToLive(factsMs, ttls);
    }

    /** Returns the event-time join, or null if facts are joined in the order of arrival. */
    private @Nullable EventTimeJoin eventTime() {
        dimensions.forEach(DimensionInput::joinsLateRows);
        int dimension = sides.versionedDimension();
        if (dimension == NONE) {
            return null;
        }
        return new EventTimeJoin(
                dimension,
                packed.dimensions().get(dimension).column(RecordLayout.TIMESTAMP),
                packed.facts().column(RecordLayout.TIMESTAMP),
                packed.factKeyBytesColumn(dimension),
                dimensions.get(dimension).joinsLateRows(),
                lateFacts(),
                lateVersions());
    }

    @Override
    public OutputTag<Row> lateFacts() {
        return new OutputTag<>(
                topology.uid("late-facts"), ChunkRows.typeOf(packed.facts().schema()));
    }

    @Override
    public OutputTag<Row> lateVersions() {
        int dimension = sides.versionedDimension();
        if (dimension == NONE) {
            throw sides.noVersions("late versions");
        }
        return new OutputTag<>(
                topology.uid("late-versions"),
                ChunkRows.typeOf(packed.dimensions().get(dimension).schema()));
    }
}
