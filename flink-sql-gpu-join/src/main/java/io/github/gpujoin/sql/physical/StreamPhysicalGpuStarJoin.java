// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.physical;

import io.github.gpujoin.sql.exec.StarJoinSpec;
import io.github.gpujoin.sql.exec.StreamExecGpuStarJoin;
import java.util.List;
import org.apache.calcite.plan.RelOptCluster;
import org.apache.calcite.plan.RelTraitSet;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.RelWriter;
import org.apache.calcite.rel.core.Join;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rel.hint.RelHint;
import org.apache.calcite.rex.RexNode;
import org.apache.flink.table.planner.calcite.FlinkTypeFactory;
import org.apache.flink.table.planner.plan.nodes.exec.ExecNode;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalJoin;

/** A regular join with a bounded side that runs as this project's star join. */
public final class StreamPhysicalGpuStarJoin extends StreamPhysicalJoin {

    private final StarJoinSpec spec;

    public StreamPhysicalGpuStarJoin(
            RelOptCluster cluster,
            RelTraitSet traits,
            RelNode left,
            RelNode right,
            RexNode condition,
            JoinRelType type,
            List<RelHint> hints,
            StarJoinSpec spec) {
        super(cluster, traits, left, right, condition, type, hints);
        this.spec = spec;
    }

    @Override
    public RelWriter explainTerms(RelWriter writer) {
        return super.explainTerms(writer)
                .item("dimension", spec.isLeftDimension() ? "left" : "right")
                .itemIf("lookupTable", "read once, at the start", spec.isLookupTable());
    }

    @Override
    public Join copy(
            RelTraitSet traits,
            RexNode condition,
            RelNode left,
            RelNode right,
            JoinRelType type,
            boolean semiJoinDone) {
        return new StreamPhysicalGpuStarJoin(
                getCluster(), traits, left, right, condition, type, getHints(), spec);
    }

    @Override
    public ExecNode<?> translateToExecNode(boolean isCompiled) {
        CompiledPlans.refuse(isCompiled, "GpuStarJoin");
        return super.translateToExecNode(isCompiled);
    }

    @Override
    public ExecNode<?> translateToExecNode() {
        return new StreamExecGpuStarJoin(
                spec, FlinkTypeFactory.toLogicalRowType(getRowType()), getRelDetailedDescription());
    }
}
