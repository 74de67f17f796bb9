// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.exec;

import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.flink.plan.JoinUid;
import io.github.gpujoin.flink.plan.RegularJoinPipeline;
import io.github.gpujoin.flink.runtime.symmetric.RowPairCondition;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.planner.delegation.PlannerBase;
import org.apache.flink.table.planner.plan.nodes.exec.ExecNodeConfig;
import org.apache.flink.table.planner.plan.utils.JoinUtil;
import org.apache.flink.table.types.logical.RowType;
import org.jspecify.annotations.Nullable;

/** Builds a regular join: the symmetric join. */
public final class StreamExecGpuJoin extends AbstractStreamExecGpuJoin {

    private final RegularJoinSpec spec;

    public StreamExecGpuJoin(RegularJoinSpec spec, RowType outputType, String description) {
        super("gpu-join", 2, outputType, description);
        this.spec = spec;
    }

    @Override
    protected Transformation<RowData> translateToPlanInternal(
            PlannerBase planner, ExecNodeConfig config) {
        JoinSide left = side(0, "l", planner);
        JoinSide right = side(1, "r", planner);
        JoinEnvironment env = JoinEnvironment.of(planner, RuntimeExecutionMode.STREAMING);
        StreamExecutionEnvironment streams = env.streams();
        RegularJoinPipeline join =
                new RegularJoinPipeline(
                        streams,
                        streams.getConfiguration(),
                        left.regularInput("left", list(spec.join().getLeftKeys()), spec.left()),
                        right.regularInput("right", list(spec.join().getRightKeys()), spec.right()),
                        BulkJoinKind.valueOf(spec.join().getJoinType().name()),
                        filterNulls(),
                        condition(planner, config, left, right),
                        JoinUid.of(uid(planner)),
                        streams.getParallelism());
        return env.sharingMemory(join.build());
    }

    private static List<Integer> list(int[] columns) {
        return Arrays.stream(columns).boxed().toList();
    }

    private List<Boolean> filterNulls() {
        List<Boolean> filtered = new ArrayList<>();
        for (boolean each : spec.join().getFilterNulls()) {
            filtered.add(each);
        }
        return filtered;
    }

    private RowPairCondition.@Nullable Factory condition(
            PlannerBase planner, ExecNodeConfig config, JoinSide left, JoinSide right) {
        return spec.join().getNonEquiCondition().isEmpty()
                ? null
                : GeneratedRowPairCondition.of(
                        JoinUtil.generateConditionFunction(
                                config,
                                planner.getFlinkContext().getClassLoader(),
                                spec.join(),
                                left.type(),
                                right.type()));
    }
}
