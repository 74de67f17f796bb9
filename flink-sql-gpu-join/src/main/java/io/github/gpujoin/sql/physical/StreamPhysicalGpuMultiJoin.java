// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.physical;

import io.github.gpujoin.sql.exec.MultiJoinSteps;
import io.github.gpujoin.sql.exec.StreamExecGpuMultiJoin;
import java.util.List;
import org.apache.calcite.plan.RelOptCluster;
import org.apache.calcite.plan.RelTraitSet;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.flink.table.planner.calcite.FlinkTypeFactory;
import org.apache.flink.table.planner.plan.nodes.exec.ExecNode;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalMultiJoin;

/** A multi-way join that runs as this project's join. */
public final class StreamPhysicalGpuMultiJoin extends StreamPhysicalMultiJoin {

    private final MultiJoinParts parts;
    private final MultiJoinSteps steps;

    public StreamPhysicalGpuMultiJoin(
            RelOptCluster cluster,
            RelTraitSet traits,
            List<RelNode> inputs,
            RelDataType rowType,
            List<JoinRelType> types,
            MultiJoinParts parts,
            MultiJoinSteps steps) {
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
        this.steps = steps;
    }

    @Override
    public RelNode copy(RelTraitSet traits, List<RelNode> inputs) {
        return new StreamPhysicalGpuMultiJoin(
                getCluster(), traits, inputs, getRowType(), getJoinTypes(), parts, steps);
    }

    @Override
    public ExecNode<?> translateToExecNode(boolean isCompiled) {
        CompiledPlans.refuse(isCompiled, "GpuMultiJoin");
        return super.translateToExecNode(isCompiled);
    }

    @Override
    public ExecNode<?> translateToExecNode() {
        return new StreamExecGpuMultiJoin(
                steps,
                FlinkTypeFactory.toLogicalRowType(getRowType()),
                getRelDetailedDescription());
    }
}
