// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.symmetric;

import io.github.gpujoin.core.symmetric.MultiJoinCondition;
import io.github.gpujoin.core.symmetric.MultiJoinSpec;
import io.github.gpujoin.core.symmetric.SymmetricInput;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.jspecify.annotations.Nullable;

/**
 * A join of two or more inputs.
 *
 * @param steps the condition of each input; that of the first one is not evaluated
 * @param columns number of columns of the rows of each input
 */
public record MultiInputPlan(MultiJoinSpec spec, List<Step> steps, List<Integer> columns)
        implements SymmetricJoinPlan {

    /**
     * The condition of a step besides equal keys.
     *
     * @param presentInputs inputs before the one of the step that must have a row, as a comparison
     *     with a key that is null matches nothing
     * @param condition on the rows of all inputs before, concatenated, and the row of the step's
     *     own input; null for none
     */
    public record Step(List<Integer> presentInputs, RowPairCondition.@Nullable Factory condition)
            implements Serializable {

        /** Copies the list. */
        public Step {
            presentInputs = List.copyOf(presentInputs);
        }
    }

    /** Copies the lists. */
    public MultiInputPlan {
        steps = List.copyOf(steps);
        columns = List.copyOf(columns);
    }

    @Override
    public List<SymmetricInput> inputs() {
        return spec.inputs();
    }

    @Override
    public List<String> labels() {
        return IntStream.range(0, spec.inputs().size()).mapToObj(i -> "input" + i).toList();
    }

    @Override
    public String kind() {
        return IntStream.range(1, spec.inputs().size())
                .mapToObj(i -> spec.keepsUnmatched(i) ? "LEFT" : "INNER")
                .toList()
                .toString();
    }

    @Override
    public Opened open(RuntimeContext context) throws Exception {
        List<@Nullable RowPairCondition> conditions = new ArrayList<>();
        for (Step step : steps) {
            conditions.add(step.condition == null ? null : step.condition.open(context));
        }
        MultiJoinCondition matches =
                steps.stream()
                                .allMatch(
                                        step ->
                                                step.condition == null
                                                        && step.presentInputs.isEmpty())
                        ? MultiJoinCondition.ALWAYS
                        : new StepConditions(steps, conditions, columns);
        return new Opened(
                (factory, hostMemory, spillDirectory) ->
                        factory.create(spec, matches, hostMemory, spillDirectory),
                conditions.stream().filter(Objects::nonNull).toList());
    }
}
