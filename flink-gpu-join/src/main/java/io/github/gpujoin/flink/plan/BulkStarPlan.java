// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.FactFilter;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.flink.api.explain.PartitionClass;
import io.github.gpujoin.flink.emit.GroupFields;
import io.github.gpujoin.flink.emit.OutputField;
import io.github.gpujoin.flink.emit.ResultColumns;
import io.github.gpujoin.flink.plan.JoinInput.Packed;
import io.github.gpujoin.flink.plan.JoinInputs.SideColumn;
import io.github.gpujoin.flink.record.RecordLayout;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The order of the stages of a star join in batch mode, and the columns between them. */
final class BulkStarPlan {

    private static final int BUILD = 0;

    private final JoinInputs sides;
    private final @Nullable Grouping grouping;
    private final JoinUid uid;
    private final BulkTopology topology;
    private final List<DimensionInput<?>> dimensions;
    private final List<JoinKey> keys;

    /** Dimensions in the order of their stages. */
    private final List<Integer> order;

    private final Packed facts;
    private final List<Packed> packedDimensions;

    /**
     * Checks the description, and plans the join.
     *
     * @param grouping null if the results are rows
     * @throws IllegalArgumentException if the description is incomplete or contradictory, or batch
     *     mode does not support it
     */
    BulkStarPlan(
            JoinInputs sides, @Nullable Grouping grouping, JoinUid uid, BulkTopology topology) {
        this.sides = sides;
        this.grouping = grouping;
        this.uid = uid;
        this.topology = topology;
        this.dimensions = sides.dimensions();
        dimensions.forEach(BulkStarPlan::requireSupported);
        if (grouping != null) {
            grouping.useColumns(sides);
        }
        this.keys = dimensions.stream().map(side -> JoinKey.of(sides.facts(), side)).toList();
        this.order =
                IntStream.range(0, dimensions.size())
                        .boxed()
                        .sorted(Comparator.comparing(this::isPartitioned))
                        .toList();
        this.facts = packFacts();
        this.packedDimensions =
                IntStream.range(0, dimensions.size()).mapToObj(this::packDimension).toList();
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

    private Packed packDimension(int dimension) {
        JoinInput<?> input = dimensions.get(dimension).input();
        return input.packForBatch(
                InputKeys.ofDimension(keys.get(dimension)),
                false,
                topology.packing(input.name(), BUILD, isPartitioned(dimension)));
    }

    private Packed packFacts() {
        JoinKey first = keys.get(order.get(0));
        return sides.facts()
                .packForBatch(
                        InputKeys.ofFacts(keys, first, PackedInputs.keptNullKeys(sides, keys)),
                        grouping == null && sides.facts().hasTimestamps(),
                        topology.packing(
                                sides.facts().name(),
                                ChunkDescriptor.FACTS,
                                isPartitioned(order.get(0))));
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
                            facts.column(keys.get(d).factColumn()),
                            dimensions.get(d).kind()));
        }
        List<FactFilter> filters = new ArrayList<>();
        sides.facts()
                .columnFilters()
                .forEach(
                        filter ->
                                filters.add(
                                        new FactFilter(
                                                facts.column(filter.column()), filter.values())));
        new JoinSpec(
                facts.schema(),
                specs,
                filters,
                grouping == null ? null : grouping.aggregation(sides, this::packed),
                facts.schema().indexOf(RecordLayout.NULL_KEYS));
    }

    private Packed packed(int side) {
        return side == ChunkDescriptor.FACTS ? facts : packedDimensions.get(side);
    }

    boolean isPartitioned(int dimension) {
        DimensionInput<?> side = dimensions.get(dimension);
        return side.isPartitioned(topology.replicateMaxBytes()) || hasUnknownSize(side);
    }

    static boolean hasUnknownSize(DimensionInput<?> side) {
        return !side.isDistributionFixed() && side.expectedBytes() == PartitionClass.UNKNOWN;
    }

    JoinInputs sides() {
        return sides;
    }

    List<Integer> order() {
        return order;
    }

    /** Returns the layout of the facts. */
    Packed facts() {
        return facts;
    }

    /** Returns the layout of a dimension. */
    Packed dimension(int number) {
        return packedDimensions.get(number);
    }

    // ------------------------------------------------------------------ stages

    /** Returns the stages, the last of which emits the results. */
    List<BulkStage> stages() {
        List<BulkStage> stages = new ArrayList<>();
        BulkStage.Facts joined = BulkStage.Facts.of(facts);
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
    Set<SideColumn> carried(int stage) {
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
            if (facts.schema().indexOf(reserved) >= 0) {
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

    ResultColumns selected(BulkStage last) {
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

    // ------------------------------------------------------------------ groups

    GroupFields groupFields() {
        return grouping.fields(sides, this::packed);
    }

    /**
     * Whether the join of the last stage can add up the groups: it counts matches, and knows
     * integers only.
     */
    boolean hasIntegerGroups(BulkStage last) {
        JoinKind kind = last.spec().dimensions().get(BUILD).kind();
        return (kind == JoinKind.INNER || kind == JoinKind.SEMI)
                && grouping.textColumns(sides, this::packed).isEmpty();
    }
}
