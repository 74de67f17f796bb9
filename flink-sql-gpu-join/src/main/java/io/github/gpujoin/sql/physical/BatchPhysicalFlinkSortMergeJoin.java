// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.physical;

import io.github.gpujoin.sql.explain.SqlReason;
import org.apache.calcite.plan.RelTraitSet;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.RelWriter;
import org.apache.calcite.rel.core.Join;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rex.RexNode;
import org.apache.flink.table.planner.plan.nodes.exec.ExecNode;
import org.apache.flink.table.planner.plan.nodes.physical.batch.BatchPhysicalSortMergeJoin;

/**
 * A sort-merge join that stays Flink's, with the reason. Flink's node does not show whether a hint
 * chose it, so that this one delegates to it. In the optimized execution plan, the reason is
 * missing.
 */
public final class BatchPhysicalFlinkSortMergeJoin extends BatchPhysicalSortMergeJoin {

    private final BatchPhysicalSortMergeJoin join;
    private final SqlReason reason;

    public BatchPhysicalFlinkSortMergeJoin(BatchPhysicalSortMergeJoin join, SqlReason reason) {
        super(
                join.getCluster(),
                join.getTraitSet(),
                join.getLeft(),
                join.getRight(),
                join.getCondition(),
                join.getJoinType(),
                join.leftSorted(),
                join.rightSorted(),
                false);
        this.join = join;
        this.reason = reason;
    }

    @Override
    public String getRelTypeName() {
        return BatchPhysicalSortMergeJoin.class.getSimpleName();
    }

    @Override
    public RelWriter explainTerms(RelWriter writer) {
        return ReasonTerms.add(super.explainTerms(writer), reason);
    }

    @Override
    public ExecNode<?> translateToExecNode() {
        return join.translateToExecNode();
    }

    @Override
    public Join copy(
            RelTraitSet traits,
            RexNode condition,
            RelNode left,
            RelNode right,
            JoinRelType type,
            boolean semiJoinDone) {
        return new BatchPhysicalFlinkSortMergeJoin(
                (BatchPhysicalSortMergeJoin)
                        join.copy(traits, condition, left, right, type, semiJoinDone),
                reason);
    }
}
