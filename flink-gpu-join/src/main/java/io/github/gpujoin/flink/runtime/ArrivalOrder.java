// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.flink.metrics.JoinMetrics;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.flink.streaming.api.operators.Output;

/** Facts are joined in the order of arrival, once all dimensions are complete. */
final class ArrivalOrder implements FactOrder {

    @Override
    public List<Integer> awaitedDimensions(int dimensionCount) {
        return IntStream.range(0, dimensionCount).boxed().toList();
    }

    @Override
    public ProbePath open(
            SubtaskContext subtask,
            SubtaskState state,
            ProbeSide probeSide,
            BuildSide buildSide,
            Output<?> output,
            JoinMetrics metrics) {
        return probeSide;
    }
}
