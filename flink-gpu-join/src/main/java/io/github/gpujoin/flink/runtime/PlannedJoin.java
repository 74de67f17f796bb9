// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.flink.api.explain.JoinExplanation;
import java.util.Optional;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.streaming.api.operators.StreamOperatorFactory;
import org.apache.flink.streaming.api.transformations.AbstractMultipleInputTransformation;
import org.apache.flink.streaming.api.transformations.TwoInputTransformation;

/** A factory of a join operator, by which the joins of a job are found. */
public interface PlannedJoin {

    /** Returns the plan of the join; empty if another operator of the join returns it. */
    Optional<JoinExplanation> plan();

    /** Returns the factory of the join that a transformation adds; empty if it adds none. */
    static Optional<PlannedJoin> of(Transformation<?> transformation) {
        StreamOperatorFactory<?> factory = null;
        if (transformation instanceof TwoInputTransformation<?, ?, ?> twoInputs) {
            factory = twoInputs.getOperatorFactory();
        } else if (transformation instanceof AbstractMultipleInputTransformation<?> inputs) {
            factory = inputs.getOperatorFactory();
        }
        return factory instanceof PlannedJoin join ? Optional.of(join) : Optional.empty();
    }
}
