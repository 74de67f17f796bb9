// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.physical;

import io.github.gpujoin.sql.explain.SqlReason;
import java.util.List;
import org.apache.calcite.plan.RelTraitSet;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.RelWriter;
import org.apache.flink.table.planner.plan.nodes.physical.batch.BatchPhysicalLookupJoin;

/** A lookup join of batch mode that stays Flink's, with the reason. */
public final class BatchPhysicalFlinkLookupJoin extends BatchPhysicalLookupJoin {

    private final SqlReason reason;

    public BatchPhysicalFlinkLookupJoin(BatchPhysicalLookupJoin join, SqlReason reason) {
        this(join, join.getTraitSet(), join.getInput(), reason);
    }

    private BatchPhysicalFlinkLookupJoin(
            BatchPhysicalLookupJoin join, RelTraitSet traits, RelNode input, SqlReason reason) {
        super(
                join.getCluster(),
                traits,
                input,
                join.temporalTable(),
                join.calcOnTemporalTable(),
                join.joinInfo(),
                join.joinType(),
                join.lookupHint(),
                join.enableLookupShuffle(),
                join.preferCustomShuffle());
        this.reason = reason;
    }

    @Override
    public String getRelTypeName() {
        return BatchPhysicalLookupJoin.class.getSimpleName();
    }

    @Override
    public RelWriter explainTerms(RelWriter writer) {
        return ReasonTerms.add(super.explainTerms(writer), reason);
    }

    @Override
    public RelNode copy(RelTraitSet traits, List<RelNode> inputs) {
        return new BatchPhysicalFlinkLookupJoin(this, traits, inputs.get(0), reason);
    }
}
