// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.physical;

import io.github.gpujoin.sql.exec.RegularJoinSpec;
import io.github.gpujoin.sql.exec.StreamExecGpuJoin;
import java.util.List;
import org.apache.calcite.plan.RelOptCluster;
import org.apache.calcite.plan.RelTraitSet;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.Join;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rel.hint.RelHint;
import org.apache.calcite.rex.RexNode;
import org.apache.flink.table.planner.calcite.FlinkTypeFactory;
import org.apache.flink.table.planner.plan.nodes.exec.ExecNode;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalJoin;

/** A regular join that runs as this project's join. */
public final class StreamPhysicalGpuJoin extends StreamPhysicalJoin {

    private final RegularJoinSpec spec;

    public StreamPhysicalGpuJoin(
            RelOptCluster cluster,
            RelTraitSet traits,
            RelNode left,
            RelNode right,
            RexNode condition,
            JoinRelType type,
            List<RelHint> hints,
            RegularJoinSpec spec) {
        super(cluster, traits, left, right, condition, type, hints);
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
        return new StreamPhysicalGpuJoin(
                getCluster(), traits, left, right, condition, type, getHints(), spec);
    }

    @Override
    public ExecNode<?> translateToExecNode(boolean isCompiled) {
        CompiledPlans.refuse(isCompiled, "GpuJoin");
        return super.translateToExecNode(isCompiled);
    }

    @Override
    public ExecNode<?> translateToExecNode() {
        return new StreamExecGpuJoin(
                spec, FlinkTypeFactory.toLogicalRowType(getRowType()), getRelDetailedDescription());
    }
}
