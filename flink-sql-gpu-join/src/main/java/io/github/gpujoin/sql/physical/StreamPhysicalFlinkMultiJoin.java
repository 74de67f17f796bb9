// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.physical;

import io.github.gpujoin.sql.explain.SqlReason;
import java.util.List;
import org.apache.calcite.plan.RelOptCluster;
import org.apache.calcite.plan.RelTraitSet;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.RelWriter;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalMultiJoin;

/** A multi-way join that stays Flink's, with the reason. */
public final class StreamPhysicalFlinkMultiJoin extends StreamPhysicalMultiJoin {

    private final MultiJoinParts parts;
    private final SqlReason reason;

    public StreamPhysicalFlinkMultiJoin(
            RelOptCluster cluster,
            RelTraitSet traits,
            List<RelNode> inputs,
            RelDataType rowType,
            List<JoinRelType> types,
            MultiJoinParts parts,
            SqlReason reason) {
        super(
                cluster,
                traits,
                inputs,
                parts.filter(),
                rowType,
                parts.conditions(),
                types,
                parts.attributes(),
                parts.postFilter(),
                parts.hints(),
                parts.keys());
        this.parts = parts;
        this.reason = reason;
    }

    @Override
    public RelNode copy(RelTraitSet traits, List<RelNode> inputs) {
        return new StreamPhysicalFlinkMultiJoin(
                getCluster(), traits, inputs, getRowType(), getJoinTypes(), parts, reason);
    }

    @Override
    public String getRelTypeName() {
        return StreamPhysicalMultiJoin.class.getSimpleName();
    }

    @Override
    public RelWriter explainTerms(RelWriter writer) {
        return ReasonTerms.add(super.explainTerms(writer), reason);
    }
}
