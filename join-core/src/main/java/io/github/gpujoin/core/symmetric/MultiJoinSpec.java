// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.symmetric;

import java.io.Serializable;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A join of two or more inputs by one key in steps: the first two inputs, then their result with
 * the third one, and so on. Each step is an inner join or a left join. No result of a step is
 * stored.
 *
 * <p>Results are those of Flink's multi-way join, kinds of change included. A submitted row probes
 * the tables in the order of the inputs. For each combination of rows of the inputs before its own
 * one that it matches:
 *
 * <ul>
 *   <li>If its step is a left join and it is the first match, the results without it are retracted
 *       by DELETE. Results with it follow.
 *   <li>Results with it have its kind.
 *   <li>If it is retracted, its step is a left join and it was the last match, the results without
 *       it are inserted by INSERT.
 * </ul>
 *
 * <p>Rows of an input count as matches if they are in its table before the submitted row changes
 * it. So an addition that replaces a row of its unique key retracts no results without a match.
 *
 * @param inputs the first one, and that of each step
 * @param leftJoins for each input whether its step is a left join, which keeps rows of the inputs
 *     before it without a match; false for the first input
 */
public record MultiJoinSpec(List<SymmetricInput> inputs, List<Boolean> leftJoins)
        implements Serializable {

    /**
     * Copies the lists and checks the inputs against each other.
     *
     * @throws IllegalArgumentException if there are fewer than two inputs, two have the same name,
     *     only some have hashed keys, or the steps do not fit the inputs
     */
    public MultiJoinSpec {
        inputs = List.copyOf(inputs);
        leftJoins = List.copyOf(leftJoins);
        if (inputs.size() < 2 || leftJoins.size() != inputs.size() || leftJoins.get(0)) {
            throw new IllegalArgumentException(
                    "Steps contradict the inputs: inputs=%d, leftJoins=%s. Name two inputs or more, and no left join for the first one."
                            .formatted(inputs.size(), leftJoins));
        }
        Set<String> names = new HashSet<>();
        for (SymmetricInput input : inputs) {
            if (!names.add(input.name())) {
                throw new IllegalArgumentException(
                        "Two inputs have the same name: name=" + input.name() + ". Rename one.");
            }
            if (input.isHashed() != inputs.get(0).isHashed()) {
                throw new IllegalArgumentException(
                        "Only one input has hashed keys: %s=%b, %s=%b"
                                .formatted(
                                        inputs.get(0).name(),
                                        inputs.get(0).isHashed(),
                                        input.name(),
                                        input.isHashed()));
            }
        }
    }

    /** Whether rows of the inputs before one are kept without a match in it. */
    public boolean keepsUnmatched(int input) {
        return leftJoins.get(input);
    }
}
