// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.physical;

import io.github.gpujoin.sql.explain.SqlReason;
import java.util.List;
import org.apache.calcite.plan.RelTraitSet;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.RelWriter;
import org.apache.calcite.rel.core.Join;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rex.RexNode;
import org.apache.flink.table.planner.plan.nodes.exec.ExecNode;
import org.apache.flink.table.planner.plan.nodes.exec.spec.DeltaJoinLookupChain;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalDeltaJoin;

/**
 * A delta join that stays Flink's, with the reason. Flink's node does not show its lookups, so that
 * this one delegates to it. In the optimized execution plan, the reason is missing.
 */
public final class StreamPhysicalFlinkDeltaJoin extends StreamPhysicalDeltaJoin {

    private final StreamPhysicalDeltaJoin join;
    private final SqlReason reason;

    public StreamPhysicalFlinkDeltaJoin(StreamPhysicalDeltaJoin join, SqlReason reason) {
        super(
                join.getCluster(),
                join.getTraitSet(),
                join.getHints(),
                join.getLeft(),
                join.getRight(),
                join.getJoinType(),
                join.getCondition(),
                List.of(),
                List.of(),
                DeltaJoinLookupChain.newInstance(),
                DeltaJoinLookupChain.newInstance(),
                join.getDeltaJoinAssociation(),
                join.getRowType());
        this.join = join;
        this.reason = reason;
    }

    @Override
    public String getRelTypeName() {
        return StreamPhysicalDeltaJoin.class.getSimpleName();
    }

    @Override
    public RelWriter explainTerms(RelWriter writer) {
        return ReasonTerms.add(join.explainTerms(writer), reason);
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
        return new StreamPhysicalFlinkDeltaJoin(
                (StreamPhysicalDeltaJoin)
                        join.copy(traits, condition, left, right, type, semiJoinDone),
                reason);
    }
}
