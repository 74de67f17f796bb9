// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.exec;

import io.github.gpujoin.flink.api.Dimension;
import io.github.gpujoin.flink.api.StarJoin;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.planner.delegation.PlannerBase;
import org.apache.flink.table.planner.plan.nodes.exec.ExecNodeConfig;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.RowType;

/** Builds a join with a bounded side: a star join whose dimension is complete at its end. */
public final class StreamExecGpuStarJoin extends AbstractStreamExecGpuJoin {

    private final StarJoinSpec spec;

    public StreamExecGpuStarJoin(StarJoinSpec spec, RowType outputType, String description) {
        super("gpu-star-join", 2, outputType, description);
        this.spec = spec;
    }

    @Override
    protected Transformation<RowData> translateToPlanInternal(
            PlannerBase planner, ExecNodeConfig config) {
        JoinSide left = side(0, "l", planner);
        JoinSide right = side(1, "r", planner);
        JoinSide facts = spec.isLeftDimension() ? right : left;
        JoinSide dimension = spec.isLeftDimension() ? left : right;
        JoinEnvironment env = JoinEnvironment.of(planner, RuntimeExecutionMode.STREAMING);
        return env.sharingMemory(
                StarJoin.of(facts.rows(env))
                        .select(facts.columns())
                        .dimension(dimension.rows(env), d -> describe(d, facts, dimension))
                        .uid(uid(planner))
                        .toRecords(
                                spec.hasDimensionColumns()
                                        ? left.joined(right, (RowType) getOutputType())
                                        : InternalTypeInfo.of(left.numberedType()))
                        .getTransformation());
    }

    private void describe(Dimension<RowData> described, JoinSide facts, JoinSide dimension) {
        // Some connectors do not tell the environment that a source is bounded.
        described.named("bounded").completeAtWatermark(Long.MAX_VALUE);
        JoinKeys keys = spec.isLeftDimension() ? spec.keys().reversed() : spec.keys();
        keys.describe(described, facts, dimension);
        if (spec.hasDimensionColumns()) {
            described.select(dimension.columns());
        }
        switch (spec.type()) {
            case LEFT, RIGHT -> described.left();
            case SEMI -> described.semi();
            case ANTI -> described.anti();
            case INNER, FULL -> {}
        }
    }
}
