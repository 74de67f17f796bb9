// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.plan;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import org.apache.calcite.plan.RelOptUtil;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexUtil;
import org.apache.flink.table.planner.plan.utils.TemporalJoinUtil;
import org.jspecify.annotations.Nullable;

/**
 * The parts of the condition of a temporal join, which the planner writes as a function call within
 * the condition: {@code __TEMPORAL_JOIN_CONDITION(left time, right time, primary key, left key,
 * right key)}, without the right time for processing time.
 *
 * @param isFunction whether the join calls a temporal table function instead of reading {@code FOR
 *     SYSTEM_TIME AS OF}
 * @param leftTime column of the left side
 * @param rightTime column of the right side; empty for processing time
 * @param primaryKey columns of the right side
 * @param residual condition besides the keys and the time; null if there is none
 */
record TemporalCondition(
        boolean isFunction,
        int leftTime,
        OptionalInt rightTime,
        Set<Integer> primaryKey,
        @Nullable RexNode residual) {

    private static final int FUNCTION_OPERANDS = 3;

    /**
     * @param condition of the join without its keys
     * @param leftColumns count of columns of the left side
     */
    static TemporalCondition of(RexNode condition, int leftColumns, RexBuilder builder) {
        RexCall time = null;
        List<RexNode> others = new ArrayList<>();
        for (RexNode each : RelOptUtil.conjunctions(condition)) {
            if (each instanceof RexCall call
                    && call.getOperator() == TemporalJoinUtil.TEMPORAL_JOIN_CONDITION()) {
                time = call;
            } else {
                others.add(each);
            }
        }
        if (time == null) {
            throw new IllegalStateException("Temporal join without a time: condition=" + condition);
        }
        boolean isFunction = time.getOperands().size() <= FUNCTION_OPERANDS;
        boolean isRowtime = !isPrimaryKey(time.getOperands().get(1));
        RexCall key = (RexCall) time.getOperands().get(isRowtime ? 2 : 1);
        Set<Integer> primaryKey = new HashSet<>();
        for (RexNode column : key.getOperands()) {
            if (column instanceof RexInputRef ref) {
                primaryKey.add(ref.getIndex() - leftColumns);
            }
        }
        return new TemporalCondition(
                isFunction,
                column(time.getOperands().get(0)),
                isRowtime
                        ? OptionalInt.of(column(time.getOperands().get(1)) - leftColumns)
                        : OptionalInt.empty(),
                primaryKey,
                others.isEmpty() ? null : RexUtil.composeConjunction(builder, others));
    }

    private static boolean isPrimaryKey(RexNode operand) {
        return operand instanceof RexCall call
                && call.getOperator() == TemporalJoinUtil.TEMPORAL_JOIN_CONDITION_PRIMARY_KEY();
    }

    private static int column(RexNode node) {
        return ((RexInputRef) node).getIndex();
    }
}
