// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.plan;

import io.github.gpujoin.core.symmetric.RowIdentity;
import io.github.gpujoin.flink.plan.RegularJoinPipeline;
import io.github.gpujoin.sql.exec.MultiJoinSteps;
import io.github.gpujoin.sql.exec.RegularJoinSpec;
import io.github.gpujoin.sql.explain.SqlReason;
import io.github.gpujoin.sql.physical.MultiJoinParts;
import io.github.gpujoin.sql.physical.StreamPhysicalFlinkMultiJoin;
import io.github.gpujoin.sql.physical.StreamPhysicalGpuMultiJoin;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rex.RexUtil;
import org.apache.flink.table.planner.hint.StateTtlHint;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalMultiJoin;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalRel;
import org.apache.flink.table.planner.plan.utils.ChangelogPlanUtils;
import org.apache.flink.table.planner.utils.ShortcutUtils;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Replaces multi-way joins, which the planner creates if its option for them is set. */
final class MultiJoinReplacement implements JoinReplacement {

    private static final Logger LOG = LoggerFactory.getLogger(MultiJoinReplacement.class);

    @Override
    public RelNode apply(RelNode rel) {
        return rel.getClass() == StreamPhysicalMultiJoin.class
                ? replacement((StreamPhysicalMultiJoin) rel)
                : rel;
    }

    private static RelNode replacement(StreamPhysicalMultiJoin join) {
        MultiJoinParts parts = MultiJoinParts.of(join);
        MultiJoinSteps steps = steps(join, parts);
        Optional<SqlReason> refusal = refusal(join, steps);
        if (refusal.isPresent()) {
            Refusals.log(LOG, join, refusal.get());
            return new StreamPhysicalFlinkMultiJoin(
                    join.getCluster(),
                    join.getTraitSet(),
                    join.getInputs(),
                    join.getRowType(),
                    join.getJoinTypes(),
                    parts,
                    refusal.get());
        }
        return new StreamPhysicalGpuMultiJoin(
                join.getCluster(),
                join.getTraitSet(),
                join.getInputs().stream().map(Exchanges::without).toList(),
                join.getRowType(),
                join.getJoinTypes(),
                parts,
                steps);
    }

    // ------------------------------------------------------------------ steps

    private static MultiJoinSteps steps(StreamPhysicalMultiJoin join, MultiJoinParts parts) {
        List<List<Integer>> keys = new ArrayList<>();
        List<Integer> firstColumns = new ArrayList<>();
        int columns = 0;
        for (int i = 0; i < join.getInputs().size(); i++) {
            keys.add(Arrays.stream(parts.keys().getCommonJoinKeyIndices(i)).boxed().toList());
            firstColumns.add(columns);
            columns += join.getInput(i).getRowType().getFieldCount();
        }
        List<Boolean> lefts = new ArrayList<>();
        List<MultiJoinSteps.Step> steps = new ArrayList<>();
        for (int i = 0; i < join.getInputs().size(); i++) {
            lefts.add(i > 0 && join.getJoinTypes().get(i) == JoinRelType.LEFT);
            StepCondition condition =
                    i == 0
                            ? StepCondition.NONE
                            : StepCondition.of(
                                    join.getCluster().getRexBuilder(),
                                    parts.conditions().get(i),
                                    i,
                                    keys,
                                    firstColumns,
                                    lefts);
            steps.add(
                    new MultiJoinSteps.Step(
                            keys.get(i),
                            input(join, parts, i, keys.get(i)),
                            lefts.get(i),
                            condition.presentInputs(),
                            condition.residual()));
        }
        return new MultiJoinSteps(steps);
    }

    /**
     * Flink stores a row of the first input by its unique key, and of another one by the columns
     * that its step compares and its unique key. An addition replaces the stored row.
     */
    private static RegularJoinSpec.Input input(
            StreamPhysicalMultiJoin join, MultiJoinParts parts, int input, List<Integer> key) {
        long timeToLiveMs =
                TimesToLive.hintedMs(
                        StateTtlHint.getStateTtlFromHintOnMultiRel(parts.hints()), input, join);
        if (ChangelogPlanUtils.isInsertOnly((StreamPhysicalRel) join.getInput(input))) {
            return new RegularJoinSpec.Input(RowIdentity.APPEND_ONLY, List.of(), timeToLiveMs);
        }
        List<Integer> compared =
                Arrays.stream(parts.keys().getJoinKeyIndices(input)).boxed().toList();
        List<List<Integer>> unique =
                join.getUniqueKeysForInputs().get(input).stream()
                        .map(columns -> Arrays.stream(columns).boxed().toList())
                        .toList();
        Optional<List<Integer>> smallest =
                unique.stream()
                        .min(
                                Comparator.<List<Integer>, Boolean>comparing(
                                                columns -> !compared.containsAll(columns))
                                        .thenComparing(List::size));
        if (smallest.isEmpty()) {
            return new RegularJoinSpec.Input(RowIdentity.MULTISET, List.of(), timeToLiveMs);
        }
        Set<Integer> identity = new LinkedHashSet<>(smallest.get());
        if (input > 0) {
            identity.addAll(compared);
        }
        key.forEach(identity::remove);
        return new RegularJoinSpec.Input(
                identity.isEmpty() ? RowIdentity.JOIN_KEY : RowIdentity.UNIQUE_COLUMNS,
                List.copyOf(identity),
                timeToLiveMs);
    }

    // ------------------------------------------------------------------ refusals

    private static Optional<SqlReason> refusal(StreamPhysicalMultiJoin join, MultiJoinSteps steps) {
        if (steps.steps().get(0).keys().isEmpty()) {
            return Optional.of(SqlReason.NO_EQUAL_COLUMNS);
        }
        List<LogicalType> keyTypes = List.of();
        for (int i = 0; i < steps.steps().size(); i++) {
            MultiJoinSteps.Step step = steps.steps().get(i);
            RowType type = Refusals.rowType(join.getInput(i));
            List<LogicalType> types =
                    step.keys().stream().map(column -> type.getTypeAt(column).copy(true)).toList();
            if (types.stream().anyMatch(Refusals::isFloatingPoint)) {
                return Optional.of(SqlReason.FLOATING_POINT_KEY);
            }
            if (i > 0 && !types.equals(keyTypes)
                    || !RegularJoinPipeline.supportsKey(type, step.keys())
                    || !RegularJoinPipeline.supportsKey(type, step.input().identityColumns())) {
                return Optional.of(SqlReason.KEY_TYPE);
            }
            if (step.condition() != null && !RexUtil.isDeterministic(step.condition())) {
                return Optional.of(SqlReason.NON_DETERMINISTIC_CONDITION);
            }
            keyTypes = types;
        }
        return Refusals.isAtLeastOnce(ShortcutUtils.unwrapTableConfig(join))
                ? Optional.of(SqlReason.AT_LEAST_ONCE)
                : Optional.empty();
    }
}
