// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.flink.metrics.JoinMetrics;
import io.github.gpujoin.flink.runtime.eventtime.EventTimeJoin;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.flink.streaming.api.operators.Output;

/** Facts are joined with the versions of a dimension in the order of event time. */
final class VersionOrder implements FactOrder {

    private final EventTimeJoin join;

    VersionOrder(EventTimeJoin join) {
        this.join = join;
    }

    /** Event time orders the versioned dimension, so it is awaited only if there is no other. */
    @Override
    public List<Integer> awaitedDimensions(int dimensionCount) {
        return IntStream.range(0, dimensionCount)
                .filter(dimension -> dimension != join.dimension() || dimensionCount == 1)
                .boxed()
                .toList();
    }

    @Override
    public ProbePath open(
            SubtaskContext subtask,
            SubtaskState state,
            ProbeSide probeSide,
            BuildSide buildSide,
            Output<?> output,
            JoinMetrics metrics)
            throws Exception {
        return new VersionedProbes(
                subtask.spec(),
                join,
                state.openEventTimeLog(),
                probeSide,
                buildSide,
                subtask::checkNotCancelled,
                subtask.mailbox(),
                output,
                metrics);
    }
}
