// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.FactFilter;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.flink.api.data.ChunkTypeInfo;
import io.github.gpujoin.flink.api.explain.DimensionExplanation;
import io.github.gpujoin.flink.api.explain.Distribution;
import io.github.gpujoin.flink.api.explain.JoinExplanation;
import io.github.gpujoin.flink.api.explain.PartitionClass;
import io.github.gpujoin.flink.api.explain.ReasonCode;
import io.github.gpujoin.flink.emit.GroupFields;
import io.github.gpujoin.flink.emit.OutputField;
import io.github.gpujoin.flink.emit.ResultColumns;
import io.github.gpujoin.flink.emit.ResultEmitterFactory;
import io.github.gpujoin.flink.emit.ResultEmitters;
import io.github.gpujoin.flink.pack.AbstractPackOperator;
import io.github.gpujoin.flink.pack.ChunkPackOperator;
import io.github.gpujoin.flink.pack.ChunkProjection;
import io.github.gpujoin.flink.plan.JoinInput.Packed;
import io.github.gpujoin.flink.plan.JoinInputs.SideColumn;
import io.github.gpujoin.flink.record.RecordLayout;
import io.github.gpujoin.flink.runtime.bulk.BulkJoinSettings;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.types.Row;
import org.apache.flink.util.OutputTag;
import org.jspecify.annotations.Nullable;

/**
 * Builds the operators of a star join in batch mode: a chain of bulk joins of the facts with one
 * dimension each, the replicated dimensions first.
 *
 * <pre>
 *   dimension 0 -- pack --+            dimension 1 -- pack --+
 *                         +-- join -- pack by next key ------+-- join -- results
 *   facts ------- pack ---+
 * </pre>
 */
final class BulkStarJoin implements StarPipeline {

    private static final int BUILD = 0;

    private final JoinUid uid;
    private final JoinInput<?> facts;
    private final List<DimensionInput<?>> dimensions;
    private final @Nullable Grouping grouping;
    private final JoinInputs sides;
    private final BulkTopology topology;
    private final List<JoinKey> keys;

    /** Dimensions in the order of their stages. */
    private final List<Integer> order;

    private final Packed packedFacts;
    private final List<Packed> packedDimensions = new ArrayList<>();

    /**
     * Checks the description, and plans the join.
     *
     * @param grouping null if the results are rows
     * @throws IllegalArgumentException if the description is incomplete or contradictory, or batch
     *     mode does not support it
     */
    BulkStarJoin(
            JoinUid uid,
            JoinInput<?> facts,
            List<DimensionInput<?>> dimensions,
            @Nullable Grouping grouping,
            BadRecordStreams badRecords) {
        this.uid = uid;
        this.facts = facts;
        this.dimensions = List.copyOf(dimensions);
        this.grouping = grouping;
        this.sides = JoinInputs.of(uid, facts, dimensions);
        dimensions.forEach(BulkStarJoin::requireSupported);
        this.topology = new BulkTopology(facts.stream().getExecutionEnvironment(), uid, badRecords);
        if (grouping != null) {
            grouping.useColumns(sides);
        }
        this.keys = dimensions.stream().map(side -> JoinKey.of(facts, side)).toList();
        this.order =
                IntStream.range(0, dimensions.size())
                        .boxed()
                        .sorted(Comparator.comparing(this::isPartitioned))
                        .toList();
        this.packedFacts = packFacts();
        for (int d = 0; d < dimensions.size(); d++) {
            packedDimensions.add(
                    dimensions
                            .get(d)
                            .input()
                            .packForBatch(
                                    InputKeys.ofDimension(keys.get(d)),
                                    false,
                                    topology.packing(
                                            dimensions.get(d).input().name(),
                                            BUILD,
                                            isPartitioned(d))));
        }
        requireColumns();
    }

    /** Rejects what needs the order of rows in time, or an answer while rows arrive. */
    private static void requireSupported(DimensionInput<?> dimension) {
        String feature = dimension.streamingFeature();
        if (feature != null) {
            throw new IllegalArgumentException(
                    "Batch mode has no %s: dimension=%s. Remove it, or set execution.runtime-mode to STREAMING."
                            .formatted(feature, dimension.input().name()));
        }
    }

    private Packed packFacts() {
        JoinKey first = keys.get(order.get(0));
        return facts.packForBatch(
                InputKeys.ofFacts(keys, first, PackedInputs.keptNullKeys(sides, keys)),
                grouping == null && facts.hasTimestamps(),
                topology.packing(facts.name(), ChunkDescriptor.FACTS, isPartitioned(order.get(0))));
    }

    /** Rejects columns of filters, groups and sums, as a join of one stage would. */
    private void requireColumns() {
        List<DimensionSpec> specs = new ArrayList<>();
        for (int d = 0; d < dimensions.size(); d++) {
            specs.add(
                    new DimensionSpec(
                            dimensions.get(d).input().name(),
                            packedDimensions.get(d).schema(),
                            packedDimensions.get(d).column(keys.get(d).column()),
                            packedFacts.column(keys.get(d).factColumn()),
                            dimensions.get(d).kind()));
        }
        List<FactFilter> filters = new ArrayList<>();
        facts.columnFilters()
                .forEach(
                        filter ->
                                filters.add(
                                        new FactFilter(
                                                packedFacts.column(filter.column()),
                                                filter.values())));
        new JoinSpec(
                packedFacts.schema(),
                specs,
                filters,
                grouping == null ? null : grouping.aggregation(sides, this::packed),
                packedFacts.schema().indexOf(RecordLayout.NULL_KEYS));
    }

    private Packed packed(int side) {
        return side == ChunkDescriptor.FACTS ? packedFacts : packedDimensions.get(side);
    }

    private boolean isPartitioned(int dimension) {
        DimensionInput<?> side = dimensions.get(dimension);
        return side.isPartitioned(topology.replicateMaxBytes()) || hasUnknownSize(side);
    }

    private static boolean hasUnknownSize(DimensionInput<?> side) {
        return !side.isDistributionFixed() && side.expectedBytes() == PartitionClass.UNKNOWN;
    }

    // ------------------------------------------------------------------ stages

    /** Returns the stages, the last of which emits the results. */
    private List<BulkStage> stages() {
        List<BulkStage> stages = new ArrayList<>();
        BulkStage.Facts joined = BulkStage.Facts.of(packedFacts);
        for (int stage = 0; stage < order.size(); stage++) {
            int d = order.get(stage);
            BulkStage current =
                    BulkStage.of(
                            d, dimensions.get(d), keys.get(d), joined, packedDimensions.get(d));
            stages.add(current);
            if (stage + 1 < order.size()) {
                Set<SideColumn> carried = carried(stage);
                joined = BulkStage.next(current.carried(carried), carried);
            }
        }
        return stages;
    }

    /** Returns the columns after a stage that later stages or the results read. */
    private Set<SideColumn> carried(int stage) {
        Set<SideColumn> columns = new LinkedHashSet<>();
        for (int later : order.subList(stage + 1, order.size())) {
            JoinKey key = keys.get(later);
            columns.add(new SideColumn(ChunkDescriptor.FACTS, key.factColumn()));
            columns.add(new SideColumn(ChunkDescriptor.FACTS, key.comparedFactColumn()));
        }
        Set<Integer> joined = new LinkedHashSet<>(order.subList(0, stage + 1));
        for (SideColumn column : resultColumns()) {
            if (column.side() == ChunkDescriptor.FACTS || joined.contains(column.side())) {
                columns.add(column);
            }
        }
        for (String reserved : List.of(RecordLayout.TIMESTAMP, RecordLayout.NULL_KEYS)) {
            if (packedFacts.schema().indexOf(reserved) >= 0) {
                columns.add(new SideColumn(ChunkDescriptor.FACTS, reserved));
            }
        }
        return columns;
    }

    /** Returns the columns of all sides that the results are made of. */
    private List<SideColumn> resultColumns() {
        List<SideColumn> columns = new ArrayList<>();
        if (grouping != null) {
            columns.addAll(grouping.groupColumns(sides));
            grouping.factors(sides).forEach(columns::addAll);
            return columns;
        }
        for (int side = ChunkDescriptor.FACTS; side < dimensions.size(); side++) {
            for (Selection selection : sides.input(side).selections()) {
                columns.add(new SideColumn(side, selection.column()));
            }
        }
        return columns;
    }

    private ResultColumns selected(BulkStage last) {
        List<OutputField> fields = new ArrayList<>();
        for (int side = ChunkDescriptor.FACTS; side < dimensions.size(); side++) {
            for (Selection selection : sides.input(side).selections()) {
                fields.add(
                        last.field(
                                new SideColumn(side, selection.column()),
                                selection.name(),
                                packed(side).nullKeyBits(selection.column())));
            }
        }
        if (fields.isEmpty()) {
            throw new IllegalArgumentException(
                    "Join selects no columns: uid=%s. Add .select(...) or .groupBy(...)."
                            .formatted(uid.text()));
        }
        return ResultColumns.of(last.spec(), fields);
    }

    // ------------------------------------------------------------------ results

    @Override
    public SingleOutputStreamOperator<Row> toPartialGroups() {
        List<BulkStage> stages = stages();
        BulkStage last = stages.get(stages.size() - 1);
        GroupFields fields = grouping.fields(sides, this::packed);
        return join(
                stages,
                ResultEmitters.partialGroups(
                        last.spec(),
                        fields(last, grouping.groupColumns(sides)),
                        grouping.factors(sides).stream().map(sum -> fields(last, sum)).toList(),
                        fields),
                fields.rowType());
    }

    private static List<OutputField> fields(BulkStage last, List<SideColumn> columns) {
        return columns.stream().map(column -> last.field(column, column.column(), 0)).toList();
    }

    @Override
    public SingleOutputStreamOperator<Row> toGroups() {
        GroupFields fields = grouping.fields(sides, this::packed);
        return GroupTotals.ofBatch(toPartialGroups(), fields, uid.operator("groups"));
    }

    @Override
    public SingleOutputStreamOperator<Row> toRows() {
        List<BulkStage> stages = stages();
        ResultColumns columns = selected(stages.get(stages.size() - 1));
        return join(stages, ResultEmitters.rows(columns), columns.rowType());
    }

    @Override
    public <T> SingleOutputStreamOperator<T> toRecords(TypeInformation<T> type) {
        List<BulkStage> stages = stages();
        ResultColumns columns = selected(stages.get(stages.size() - 1));
        return join(stages, ResultEmitters.records(columns, type), type);
    }

    @Override
    public SingleOutputStreamOperator<Chunk> toChunks(boolean keepsEncoding) {
        List<BulkStage> stages = stages();
        ResultColumns columns = selected(stages.get(stages.size() - 1));
        return join(
                stages,
                ResultEmitters.chunks(columns, topology.chunkBytes(), keepsEncoding),
                ChunkTypeInfo.of(columns.schema()));
    }

    private <OUT> SingleOutputStreamOperator<OUT> join(
            List<BulkStage> stages, ResultEmitterFactory<OUT> emitter, TypeInformation<OUT> type) {
        uid.requireUnused(facts.stream().getExecutionEnvironment());
        dimensions.forEach(DimensionInput::markJoined);
        facts.built().mark(uid);
        if (grouping != null) {
            grouping.built().mark(uid);
        }
        topology.conditions((AbstractPackOperator<?, ?>) packedFacts.packer(), facts);
        DataStream<Chunk> joined =
                facts.transform(packedFacts, ChunkTypeInfo.of(packedFacts.schema()), topology);
        List<DataStream<Chunk>> builds = new ArrayList<>();
        for (int d = 0; d < dimensions.size(); d++) {
            Packed packed = packedDimensions.get(d);
            builds.add(
                    dimensions
                            .get(d)
                            .input()
                            .transform(
                                    packed,
                                    ChunkTypeInfo.ofDimensions(List.of(packed.schema())),
                                    topology));
        }
        topology.emitBadRecords();
        for (int i = 0; i < stages.size() - 1; i++) {
            BulkStage stage = stages.get(i);
            ResultColumns carried = stage.carried(carried(i));
            joined =
                    topology.join(
                            BulkTopology.JOIN + "-" + name(stage.dimension()),
                            builds.get(stage.dimension()),
                            joined,
                            isPartitioned(stage.dimension()),
                            settings(stage),
                            ResultEmitters.chunks(carried, topology.chunkBytes(), false),
                            ChunkTypeInfo.of(carried.schema()));
            joined = packedForNext(joined, stages.get(i + 1));
        }
        BulkStage last = stages.get(stages.size() - 1);
        return topology.join(
                BulkTopology.JOIN,
                builds.get(last.dimension()),
                joined,
                isPartitioned(last.dimension()),
                settings(last),
                emitter,
                type);
    }

    /** Packs the results of a stage by the key of the next one, if that partitions them. */
    private DataStream<Chunk> packedForNext(DataStream<Chunk> joined, BulkStage next) {
        if (!isPartitioned(next.dimension())) {
            return joined;
        }
        String name = facts.name() + "-by-" + name(next.dimension());
        int key = next.spec().dimensions().get(BUILD).factKeyColumn();
        return topology.pack(
                joined,
                new ChunkPackOperator(
                        ChunkProjection.identity(next.facts().schema()),
                        null,
                        topology.packing(name, ChunkDescriptor.FACTS, true).partitionedBy(key)),
                name,
                ChunkTypeInfo.of(next.facts().schema()));
    }

    private BulkJoinSettings settings(BulkStage stage) {
        return new BulkJoinSettings(
                stage.spec(),
                stage.bulk(),
                stage.nullKeyBits(),
                topology.joins(),
                topology.explain(List.of(explained(stage.dimension()))));
    }

    private String name(int dimension) {
        return dimensions.get(dimension).input().name();
    }

    // ------------------------------------------------------------------ explanation

    @Override
    public JoinExplanation explain() {
        return topology.explain(order.stream().map(this::explained).toList());
    }

    private DimensionExplanation explained(int dimension) {
        DimensionInput<?> side = dimensions.get(dimension);
        boolean isPartitioned = isPartitioned(dimension);
        return DimensionExplanation.planned(
                side.input().name(),
                side.kind().name(),
                isPartitioned ? Distribution.PARTITIONED : Distribution.REPLICATED,
                hasUnknownSize(side)
                        ? ReasonCode.SIZE_UNKNOWN
                        : side.distributionReason(isPartitioned, topology.replicateMaxBytes()),
                ReasonCode.BATCH_MODE,
                side.expectedBytes());
    }

    @Override
    public OutputTag<Row> lateFacts() {
        throw sides.noVersions("late facts");
    }

    @Override
    public OutputTag<Row> lateVersions() {
        throw sides.noVersions("late versions");
    }
}
