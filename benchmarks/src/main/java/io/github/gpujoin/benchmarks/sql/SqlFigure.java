// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.sql;

import io.github.gpujoin.benchmarks.join.ContenderResult;
import io.github.gpujoin.benchmarks.join.Summary;

/** What one contender measured for one query. */
public record SqlFigure(String query, ContenderResult result) {

    private static final double NS_PER_S = 1e9;

    /** Returns the name of the contender. */
    public String contender() {
        return result.name();
    }

    /**
     * Returns events over the processor time of the process: events divided by cores times seconds,
     * as the public Nexmark suite reports them.
     */
    public Summary eventsPerCoreSecond() {
        return Summary.of(
                result.rounds().stream()
                        .map(
                                round ->
                                        round.probeRows()
                                                * NS_PER_S
                                                / round.details().get(SqlContender.CPU_NS))
                        .toList());
    }

    /** Returns events over the seconds from the first event to the end of the result. */
    public Summary eventsPerSecond() {
        return result.tuplesPerSecond();
    }

    /** Returns the rows of the materialised result. */
    public long resultRows() {
        return result.shown().answer().count();
    }

    /** Returns whether the result of every round is Flink's. */
    public boolean isRight() {
        return result.isCorrect();
    }
}
