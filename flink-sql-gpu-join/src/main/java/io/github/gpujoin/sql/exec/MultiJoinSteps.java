// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.exec;

import java.util.List;
import org.apache.calcite.rex.RexNode;
import org.jspecify.annotations.Nullable;

/**
 * What a multi-way join does: the first input, and a step for each other one.
 *
 * @param steps by input; the first one has no condition and is no left join
 */
public record MultiJoinSteps(List<Step> steps) {

    /**
     * An input, and how it is joined with those before it.
     *
     * @param keys columns of the key that all inputs share
     * @param input which earlier row a change refers to, and the time to live
     * @param isLeft whether rows of the inputs before it are kept without a match
     * @param presentInputs inputs before it that must have a row
     * @param condition besides the key, on the columns of all inputs up to this one; null for none
     */
    public record Step(
            List<Integer> keys,
            RegularJoinSpec.Input input,
            boolean isLeft,
            List<Integer> presentInputs,
            @Nullable RexNode condition) {}
}
