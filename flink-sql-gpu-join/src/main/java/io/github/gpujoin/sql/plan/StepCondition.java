// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.plan;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.apache.calcite.plan.RelOptUtil;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexUtil;
import org.apache.calcite.sql.SqlKind;
import org.jspecify.annotations.Nullable;

/**
 * The condition of a step of a multi-way join without comparisons of the key, which the join's
 * tables imply. Such a comparison fails if the other input has no row in the result.
 *
 * @param presentInputs inputs that must have a row
 * @param residual the rest of the condition; null for none
 */
record StepCondition(List<Integer> presentInputs, @Nullable RexNode residual) {

    static final StepCondition NONE = new StepCondition(List.of(), null);

    /**
     * Splits a condition.
     *
     * @param condition on the columns of all inputs, concatenated
     * @param input of the step
     * @param keys columns of the key of each input
     * @param firstColumns number of columns before each input
     * @param lefts for each input up to this one whether its step is a left join
     */
    static StepCondition of(
            RexBuilder builder,
            RexNode condition,
            int input,
            List<List<Integer>> keys,
            List<Integer> firstColumns,
            List<Boolean> lefts) {
        Set<Integer> present = new LinkedHashSet<>();
        List<RexNode> residual = new ArrayList<>();
        for (RexNode each : RelOptUtil.conjunctions(condition)) {
            int other = comparedInput(each, input, keys, firstColumns);
            if (other < 0) {
                residual.add(each);
            } else if (lefts.get(other)) {
                present.add(other);
            }
        }
        return new StepCondition(
                List.copyOf(present), RexUtil.composeConjunction(builder, residual, true));
    }

    /** Returns the input before a step whose key the expression compares with the step's, or -1. */
    private static int comparedInput(
            RexNode expression, int input, List<List<Integer>> keys, List<Integer> firstColumns) {
        if (expression.getKind() != SqlKind.EQUALS) {
            return -1;
        }
        List<RexNode> operands = ((RexCall) expression).getOperands();
        if (!(operands.get(0) instanceof RexInputRef one)
                || !(operands.get(1) instanceof RexInputRef two)) {
            return -1;
        }
        int left = Math.min(one.getIndex(), two.getIndex());
        int right = Math.max(one.getIndex(), two.getIndex()) - firstColumns.get(input);
        int part = keys.get(input).indexOf(right);
        for (int other = 0; other < input && part >= 0; other++) {
            if (keys.get(other).get(part) == left - firstColumns.get(other)) {
                return other;
            }
        }
        return -1;
    }
}
