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
import org.apache.flink.table.planner.plan.nodes.exec.spec.IntervalJoinSpec.WindowBounds;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalIntervalJoin;

/** An interval join that stays Flink's, with the reason. */
public final class StreamPhysicalFlinkIntervalJoin extends StreamPhysicalIntervalJoin {

    private final WindowBounds bounds;
    private final SqlReason reason;

    public StreamPhysicalFlinkIntervalJoin(
            StreamPhysicalIntervalJoin join, WindowBounds bounds, SqlReason reason) {
        this(
                join,
                join.getTraitSet(),
                join.getLeft(),
                join.getRight(),
                join.getCondition(),
                join.getJoinType(),
                bounds,
                reason);
    }

    private StreamPhysicalFlinkIntervalJoin(
            StreamPhysicalIntervalJoin join,
            RelTraitSet traits,
            RelNode left,
            RelNode right,
            RexNode condition,
            JoinRelType type,
            WindowBounds bounds,
            SqlReason reason) {
        super(
                join.getCluster(),
                traits,
                left,
                right,
                type,
                join.originalCondition(),
                condition,
                bounds);
        this.bounds = bounds;
        this.reason = reason;
    }

    @Override
    public String getRelTypeName() {
        return StreamPhysicalIntervalJoin.class.getSimpleName();
    }

    @Override
    public RelWriter explainTerms(RelWriter writer) {
        return ReasonTerms.add(super.explainTerms(writer), reason);
    }

    @Override
    public Join copy(
            RelTraitSet traits,
            RexNode condition,
            RelNode left,
            RelNode right,
            JoinRelType type,
            boolean semiJoinDone) {
        return new StreamPhysicalFlinkIntervalJoin(
                this, traits, left, right, condition, type, bounds, reason);
    }
}
