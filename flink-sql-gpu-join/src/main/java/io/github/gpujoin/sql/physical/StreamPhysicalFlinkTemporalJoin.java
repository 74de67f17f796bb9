// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.physical;

import io.github.gpujoin.sql.explain.SqlReason;
import org.apache.calcite.plan.RelOptCluster;
import org.apache.calcite.plan.RelTraitSet;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.RelWriter;
import org.apache.calcite.rel.core.Join;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rex.RexNode;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalTemporalJoin;

/** A temporal join that stays Flink's, with the reason. */
public final class StreamPhysicalFlinkTemporalJoin extends StreamPhysicalTemporalJoin {

    private final SqlReason reason;

    public StreamPhysicalFlinkTemporalJoin(
            RelOptCluster cluster,
            RelTraitSet traits,
            RelNode left,
            RelNode right,
            RexNode condition,
            JoinRelType type,
            SqlReason reason) {
        super(cluster, traits, left, right, condition, type);
        this.reason = reason;
    }

    @Override
    public String getRelTypeName() {
        return StreamPhysicalTemporalJoin.class.getSimpleName();
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
        return new StreamPhysicalFlinkTemporalJoin(
                getCluster(), traits, left, right, condition, type, reason);
    }
}
