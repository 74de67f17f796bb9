// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.flink.metrics.JoinMetrics;
import io.github.gpujoin.flink.runtime.eventtime.EventTimeJoin;
import java.util.List;
import org.apache.flink.streaming.api.operators.Output;

/** The order in which facts are joined. */
interface FactOrder {

    static FactOrder of(JoinSettings settings) {
        EventTimeJoin eventTime = settings.eventTime();
        return eventTime == null ? new ArrivalOrder() : new VersionOrder(eventTime);
    }

    /**
     * Numbers of the dimensions that must be complete before facts are joined.
     *
     * @param dimensionCount of the join
     */
    List<Integer> awaitedDimensions(int dimensionCount);

    /**
     * Opens the path of the facts.
     *
     * @param probeSide to which the path submits facts
     * @param buildSide to which it appends changes of a dimension
     * @param output for late rows
     */
    ProbePath open(
            SubtaskContext subtask,
            SubtaskState state,
            ProbeSide probeSide,
            BuildSide buildSide,
            Output<?> output,
            JoinMetrics metrics)
            throws Exception;
}
