// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.plan;

import java.util.ArrayList;
import java.util.List;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.Join;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rel.type.RelDataTypeField;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexProgram;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.apache.flink.table.planner.plan.nodes.physical.batch.BatchPhysicalCalc;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalCalc;

/**
 * Evaluates the condition of a join besides its keys behind the join. That is right for inner
 * joins, and where a left row has at most one match: if the condition rejects it, the row has none.
 */
final class ResidualCondition {

    private ResidualCondition() {}

    /**
     * Evaluates the condition of an inner join of batch mode.
     *
     * @param join without the condition
     */
    static RelNode behindInnerOfBatch(Join join, RexNode condition) {
        return new BatchPhysicalCalc(
                join.getCluster(),
                join.getTraitSet(),
                join,
                filter(join, condition),
                join.getRowType());
    }

    /**
     * Evaluates the condition of an inner join of streaming mode.
     *
     * @param join without the condition
     */
    static RelNode behindInnerOfStreams(Join join, RexNode condition) {
        return new StreamPhysicalCalc(
                join.getCluster(),
                join.getTraitSet(),
                join,
                filter(join, condition),
                join.getRowType());
    }

    private static RexProgram filter(Join join, RexNode condition) {
        RexBuilder builder = join.getCluster().getRexBuilder();
        RelDataType row = join.getRowType();
        List<RexNode> columns = new ArrayList<>();
        for (int i = 0; i < row.getFieldCount(); i++) {
            columns.add(builder.makeInputRef(join, i));
        }
        return RexProgram.create(row, columns, condition, row, builder);
    }

    /**
     * Evaluates the condition of a temporal join.
     *
     * @param join INNER or LEFT, without the condition
     * @param condition on columns of both sides, deterministic
     * @param rightKey column of the right side that is null only if there is no match
     */
    static RelNode behind(Join join, RexNode condition, int rightKey) {
        RexBuilder builder = join.getCluster().getRexBuilder();
        RelDataType row = join.getRowType();
        int leftColumns = join.getLeft().getRowType().getFieldCount();
        boolean isLeft = join.getJoinType() == JoinRelType.LEFT;
        // The condition's types are those of rows that match. Without a match it is not evaluated.
        RexNode matches =
                isLeft
                        ? builder.makeCall(
                                SqlStdOperatorTable.AND,
                                builder.makeCall(
                                        SqlStdOperatorTable.IS_NOT_NULL,
                                        builder.makeInputRef(join, leftColumns + rightKey)),
                                condition)
                        : condition;
        List<RexNode> columns = new ArrayList<>();
        for (RelDataTypeField field : row.getFieldList()) {
            RexNode column = builder.makeInputRef(join, field.getIndex());
            columns.add(
                    isLeft && field.getIndex() >= leftColumns
                            ? builder.makeCall(
                                    SqlStdOperatorTable.CASE,
                                    matches,
                                    column,
                                    builder.makeNullLiteral(field.getType()))
                            : column);
        }
        return new StreamPhysicalCalc(
                join.getCluster(),
                join.getTraitSet(),
                join,
                RexProgram.create(row, columns, isLeft ? null : condition, row, builder),
                row);
    }
}
