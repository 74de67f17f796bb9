// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.exec;

import io.github.gpujoin.flink.plan.JoinUid;
import io.github.gpujoin.flink.plan.MultiJoinPipeline;
import io.github.gpujoin.flink.plan.RegularJoinInput;
import io.github.gpujoin.flink.runtime.symmetric.MultiInputPlan;
import io.github.gpujoin.flink.runtime.symmetric.RowPairCondition;
import java.util.ArrayList;
import java.util.List;
import org.apache.calcite.rex.RexNode;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.planner.delegation.PlannerBase;
import org.apache.flink.table.planner.plan.nodes.exec.ExecNodeConfig;
import org.apache.flink.table.planner.plan.utils.JoinUtil;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.jspecify.annotations.Nullable;

/** Builds a multi-way join: the symmetric join of several inputs. */
public final class StreamExecGpuMultiJoin extends AbstractStreamExecGpuJoin {

    private final MultiJoinSteps join;

    public StreamExecGpuMultiJoin(MultiJoinSteps join, RowType outputType, String description) {
        super("gpu-multi-join", join.steps().size(), outputType, description);
        this.join = join;
    }

    @Override
    protected Transformation<RowData> translateToPlanInternal(
            PlannerBase planner, ExecNodeConfig config) {
        List<RegularJoinInput> inputs = new ArrayList<>();
        List<MultiInputPlan.Step> steps = new ArrayList<>();
        List<LogicalType> leftColumns = new ArrayList<>();
        for (int i = 0; i < join.steps().size(); i++) {
            MultiJoinSteps.Step step = join.steps().get(i);
            JoinSide side = side(i, "input" + i + "_", planner);
            inputs.add(side.regularInput("input" + i, step.keys(), step.input()));
            steps.add(
                    new MultiInputPlan.Step(
                            step.presentInputs(),
                            condition(step.condition(), leftColumns, side, planner, config)));
            side.type()
                    .getChildren()
                    .forEach(
                            column ->
                                    leftColumns.add(
                                            column.copy(column.isNullable() || step.isLeft())));
        }
        JoinEnvironment env = JoinEnvironment.of(planner, RuntimeExecutionMode.STREAMING);
        StreamExecutionEnvironment streams = env.streams();
        return env.sharingMemory(
                new MultiJoinPipeline(
                                streams,
                                streams.getConfiguration(),
                                inputs,
                                join.steps().stream().map(MultiJoinSteps.Step::isLeft).toList(),
                                steps,
                                JoinUid.of(uid(planner)),
                                streams.getParallelism())
                        .build());
    }

    private static RowPairCondition.@Nullable Factory condition(
            @Nullable RexNode condition,
            List<LogicalType> leftColumns,
            JoinSide right,
            PlannerBase planner,
            ExecNodeConfig config) {
        return condition == null
                ? null
                : GeneratedRowPairCondition.of(
                        JoinUtil.generateConditionFunction(
                                config,
                                planner.getFlinkContext().getClassLoader(),
                                condition,
                                RowType.of(leftColumns.toArray(LogicalType[]::new)),
                                right.type()));
    }
}
