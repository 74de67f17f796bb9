// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.ssb;

import io.github.gpujoin.benchmarks.join.Summary;
import java.util.List;

/**
 * What one contender measured for one query.
 *
 * @param query name of the query, such as {@code 2.1}
 * @param rounds seconds of each round, from the query's text or plan to the last row of its result
 * @param startupSeconds the same for tables of a few rows: planning, submission and deployment
 * @param factRows rows of the fact table
 * @param isRight whether the rows of every round were the expected ones
 */
public record SsbFigure(
        String contender,
        String query,
        List<Double> rounds,
        double startupSeconds,
        long factRows,
        boolean isRight) {

    /** Start-up varies by more than this share of it, so that less work cannot be told from it. */
    private static final double START_UP_NOISE = 0.1;

    public SsbFigure {
        rounds = List.copyOf(rounds);
    }

    /** Returns the median of the rounds. */
    public double seconds() {
        return Summary.of(rounds).median();
    }

    /** Returns the seconds of the median without start-up, at least a tenth of start-up. */
    public double workSeconds() {
        return workSeconds(seconds());
    }

    /** Returns fact rows a second, start-up apart. */
    public double rowsPerSecond() {
        return factRows / workSeconds();
    }

    /** Returns the rate of each round. */
    public List<Double> rates() {
        return rounds.stream().map(seconds -> factRows / workSeconds(seconds)).toList();
    }

    private double workSeconds(double seconds) {
        return Math.max(START_UP_NOISE * startupSeconds, seconds - startupSeconds);
    }
}
