// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.physical;

import io.github.gpujoin.sql.exec.StreamExecGpuTemporalJoin;
import io.github.gpujoin.sql.exec.TemporalJoinSpec;
import org.apache.calcite.plan.RelOptCluster;
import org.apache.calcite.plan.RelTraitSet;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.Join;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rex.RexNode;
import org.apache.flink.table.planner.calcite.FlinkTypeFactory;
import org.apache.flink.table.planner.plan.nodes.exec.ExecNode;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalTemporalJoin;

/** A temporal join that runs as this project's join. */
public final class StreamPhysicalGpuTemporalJoin extends StreamPhysicalTemporalJoin {

    private final TemporalJoinSpec spec;

    public StreamPhysicalGpuTemporalJoin(
            RelOptCluster cluster,
            RelTraitSet traits,
            RelNode left,
            RelNode right,
            RexNode condition,
            JoinRelType type,
            TemporalJoinSpec spec) {
        super(cluster, traits, left, right, condition, type);
        this.spec = spec;
    }

    @Override
    public Join copy(
            RelTraitSet traits,
            RexNode condition,
            RelNode left,
            RelNode right,
            JoinRelType type,
            boolean semiJoinDone) {
        return new StreamPhysicalGpuTemporalJoin(
                getCluster(), traits, left, right, condition, type, spec);
    }

    @Override
    public ExecNode<?> translateToExecNode(boolean isCompiled) {
        CompiledPlans.refuse(isCompiled, "GpuTemporalJoin");
        return super.translateToExecNode(isCompiled);
    }

    @Override
    public ExecNode<?> translateToExecNode() {
        return new StreamExecGpuTemporalJoin(
                spec, FlinkTypeFactory.toLogicalRowType(getRowType()), getRelDetailedDescription());
    }
}
