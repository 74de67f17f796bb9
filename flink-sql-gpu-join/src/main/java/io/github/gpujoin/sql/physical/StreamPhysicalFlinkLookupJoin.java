// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.physical;

import io.github.gpujoin.sql.explain.SqlReason;
import java.util.List;
import org.apache.calcite.plan.RelTraitSet;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.RelWriter;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalLookupJoin;

/** A lookup join that stays Flink's, with the reason. */
public final class StreamPhysicalFlinkLookupJoin extends StreamPhysicalLookupJoin {

    private final SqlReason reason;

    public StreamPhysicalFlinkLookupJoin(StreamPhysicalLookupJoin join, SqlReason reason) {
        this(join, join.getTraitSet(), join.getInput(), join.upsertMaterialize(), reason);
    }

    private StreamPhysicalFlinkLookupJoin(
            StreamPhysicalLookupJoin join,
            RelTraitSet traits,
            RelNode input,
            boolean upsertMaterialize,
            SqlReason reason) {
        super(
                join.getCluster(),
                traits,
                input,
                join.temporalTable(),
                join.calcOnTemporalTable(),
                join.joinInfo(),
                join.joinType(),
                join.lookupHint(),
                upsertMaterialize,
                join.enableLookupShuffle(),
                join.preferCustomShuffle());
        this.reason = reason;
    }

    @Override
    public String getRelTypeName() {
        return StreamPhysicalLookupJoin.class.getSimpleName();
    }

    @Override
    public RelWriter explainTerms(RelWriter writer) {
        return ReasonTerms.add(super.explainTerms(writer), reason);
    }

    @Override
    public RelNode copy(RelTraitSet traits, List<RelNode> inputs) {
        return new StreamPhysicalFlinkLookupJoin(
                this, traits, inputs.get(0), upsertMaterialize(), reason);
    }

    @Override
    public StreamPhysicalLookupJoin copy(boolean upsertMaterialize) {
        return new StreamPhysicalFlinkLookupJoin(
                this, getTraitSet(), getInput(), upsertMaterialize, reason);
    }
}
