// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.flink.api.data.ChunkTypeInfo;
import io.github.gpujoin.flink.api.explain.DimensionExplanation;
import io.github.gpujoin.flink.api.explain.Distribution;
import io.github.gpujoin.flink.api.explain.JoinExplanation;
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
import io.github.gpujoin.flink.runtime.bulk.BulkJoinSettings;
import java.util.ArrayList;
import java.util.List;
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
    private final BulkTopology topology;
    private final BulkStarPlan plan;

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
        this.topology = new BulkTopology(facts.stream().getExecutionEnvironment(), uid, badRecords);
        this.plan =
                new BulkStarPlan(JoinInputs.of(uid, facts, dimensions), grouping, uid, topology);
    }

    // ------------------------------------------------------------------ results

    /** A bulk join adds up groups of integers. Others are added up from its results. */
    @Override
    public SingleOutputStreamOperator<Row> toPartialGroups() {
        List<BulkStage> stages = plan.stages();
        BulkStage last = stages.get(stages.size() - 1);
        GroupFields fields = plan.groupFields();
        if (plan.hasIntegerGroups(last)) {
            stages.set(
                    stages.size() - 1,
                    last.grouped(
                            grouping.groupColumns(plan.sides()), grouping.factors(plan.sides())));
            return join(stages, ResultEmitters.groups(fields), fields.rowType());
        }
        return join(
                stages,
                ResultEmitters.partialGroups(
                        last.spec(),
                        fields(last, grouping.groupColumns(plan.sides())),
                        grouping.factors(plan.sides()).stream()
                                .map(sum -> fields(last, sum))
                                .toList(),
                        fields),
                fields.rowType());
    }

    private static List<OutputField> fields(BulkStage last, List<SideColumn> columns) {
        return columns.stream().map(column -> last.field(column, column.column(), 0)).toList();
    }

    @Override
    public SingleOutputStreamOperator<Row> toGroups() {
        return GroupTotals.ofBatch(toPartialGroups(), plan.groupFields(), uid.operator("groups"));
    }

    @Override
    public SingleOutputStreamOperator<Row> toRows() {
        List<BulkStage> stages = plan.stages();
        ResultColumns columns = plan.selected(stages.get(stages.size() - 1));
        return join(stages, ResultEmitters.rows(columns), columns.rowType());
    }

    @Override
    public <T> SingleOutputStreamOperator<T> toRecords(TypeInformation<T> type) {
        List<BulkStage> stages = plan.stages();
        ResultColumns columns = plan.selected(stages.get(stages.size() - 1));
        return join(stages, ResultEmitters.records(columns, type), type);
    }

    @Override
    public SingleOutputStreamOperator<Chunk> toChunks(boolean keepsEncoding) {
        List<BulkStage> stages = plan.stages();
        ResultColumns columns = plan.selected(stages.get(stages.size() - 1));
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
        topology.conditions((AbstractPackOperator<?, ?>) plan.facts().packer(), facts);
        DataStream<Chunk> joined =
                facts.transform(plan.facts(), ChunkTypeInfo.of(plan.facts().schema()), topology);
        List<DataStream<Chunk>> builds = new ArrayList<>();
        for (int d = 0; d < dimensions.size(); d++) {
            Packed packed = plan.dimension(d);
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
            ResultColumns carried = stage.carried(plan.carried(i));
            joined =
                    topology.join(
                            BulkTopology.JOIN + "-" + name(stage.dimension()),
                            builds.get(stage.dimension()),
                            joined,
                            plan.isPartitioned(stage.dimension()),
                            settings(stage, null),
                            ResultEmitters.chunks(carried, topology.chunkBytes(), false),
                            ChunkTypeInfo.of(carried.schema()));
            joined = packedForNext(joined, stages.get(i + 1));
        }
        BulkStage last = stages.get(stages.size() - 1);
        return topology.join(
                BulkTopology.JOIN,
                builds.get(last.dimension()),
                joined,
                plan.isPartitioned(last.dimension()),
                settings(last, explain()),
                emitter,
                type);
    }

    /** Packs the results of a stage by the key of the next one, if that partitions them. */
    private DataStream<Chunk> packedForNext(DataStream<Chunk> joined, BulkStage next) {
        if (!plan.isPartitioned(next.dimension())) {
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

    private BulkJoinSettings settings(BulkStage stage, @Nullable JoinExplanation explanation) {
        return new BulkJoinSettings(
                stage.spec(),
                stage.bulk(),
                stage.nullKeyBits(),
                topology.joins(),
                topology.metrics(),
                explanation);
    }

    private String name(int dimension) {
        return dimensions.get(dimension).input().name();
    }

    // ------------------------------------------------------------------ explanation

    @Override
    public JoinExplanation explain() {
        return topology.explain(plan.order().stream().map(this::explained).toList());
    }

    private DimensionExplanation explained(int dimension) {
        DimensionInput<?> side = dimensions.get(dimension);
        boolean isPartitioned = plan.isPartitioned(dimension);
        return DimensionExplanation.planned(
                side.input().name(),
                side.kind().name(),
                isPartitioned ? Distribution.PARTITIONED : Distribution.REPLICATED,
                BulkStarPlan.hasUnknownSize(side)
                        ? ReasonCode.SIZE_UNKNOWN
                        : side.distributionReason(isPartitioned, topology.replicateMaxBytes()),
                ReasonCode.BATCH_MODE,
                side.expectedBytes());
    }

    @Override
    public OutputTag<Row> lateFacts() {
        throw plan.sides().noVersions("late facts");
    }

    @Override
    public OutputTag<Row> lateVersions() {
        throw plan.sides().noVersions("late versions");
    }
}
