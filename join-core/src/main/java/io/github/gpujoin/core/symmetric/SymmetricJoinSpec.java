// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.symmetric;

import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.bulk.JoinSide;
import java.io.Serializable;
import java.util.List;

/**
 * What a symmetric join joins. Semi and anti joins return rows of the left input.
 *
 * @param kind which rows are results
 */
public record SymmetricJoinSpec(SymmetricInput left, SymmetricInput right, BulkJoinKind kind)
        implements Serializable {

    /**
     * Checks the inputs against each other.
     *
     * @throws IllegalArgumentException if the inputs have the same name, or only one has hashed
     *     keys
     */
    public SymmetricJoinSpec {
        if (left.name().equals(right.name())) {
            throw new IllegalArgumentException(
                    "Both inputs have the same name: name=" + left.name() + ". Rename one.");
        }
        if (left.isHashed() != right.isHashed()) {
            throw new IllegalArgumentException(
                    "Only one input has hashed keys: %s=%b, %s=%b"
                            .formatted(
                                    left.name(), left.isHashed(), right.name(), right.isHashed()));
        }
    }

    public SymmetricInput input(JoinSide side) {
        return side == JoinSide.LEFT ? left : right;
    }

    /** Returns the left input, then the right one. */
    public List<SymmetricInput> inputs() {
        return List.of(left, right);
    }
}
