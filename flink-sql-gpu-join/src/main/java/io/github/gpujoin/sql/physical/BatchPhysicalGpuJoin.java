// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.physical;

import io.github.gpujoin.sql.exec.BatchExecGpuJoin;
import io.github.gpujoin.sql.exec.JoinKeys;
import org.apache.calcite.plan.RelOptCluster;
import org.apache.calcite.plan.RelTraitSet;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.Join;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rex.RexNode;
import org.apache.flink.table.planner.calcite.FlinkTypeFactory;
import org.apache.flink.table.planner.plan.nodes.exec.ExecNode;
import org.apache.flink.table.planner.plan.nodes.physical.batch.BatchPhysicalJoinBase;

/** A join of batch mode that runs as this project's bulk join. */
public final class BatchPhysicalGpuJoin extends BatchPhysicalJoinBase {

    private final JoinKeys keys;

    public BatchPhysicalGpuJoin(
            RelOptCluster cluster,
            RelTraitSet traits,
            RelNode left,
            RelNode right,
            RexNode condition,
            JoinRelType type,
            JoinKeys keys) {
        super(cluster, traits, left, right, condition, type);
        this.keys = keys;
    }

    @Override
    public Join copy(
            RelTraitSet traits,
            RexNode condition,
            RelNode left,
            RelNode right,
            JoinRelType type,
            boolean semiJoinDone) {
        return new BatchPhysicalGpuJoin(getCluster(), traits, left, right, condition, type, keys);
    }

    @Override
    public ExecNode<?> translateToExecNode(boolean isCompiled) {
        CompiledPlans.refuse(isCompiled, "GpuJoin");
        return super.translateToExecNode(isCompiled);
    }

    @Override
    public ExecNode<?> translateToExecNode() {
        return new BatchExecGpuJoin(
                keys,
                joinSpec().getJoinType(),
                FlinkTypeFactory.toLogicalRowType(getRowType()),
                getRelDetailedDescription());
    }
}
