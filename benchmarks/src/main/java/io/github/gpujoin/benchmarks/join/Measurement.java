// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.join;

import io.github.gpujoin.benchmarks.workload.JoinAnswer;
import java.util.Map;

/**
 * One timed join.
 *
 * @param probeRows probe tuples joined in the time
 * @param elapsedNs the time that the quoted rate is over
 * @param details further figures, by name with unit, such as {@code build_ms}
 */
public record Measurement(
        long probeRows,
        long elapsedNs,
        JoinAnswer answer,
        JoinAnswer expected,
        Map<String, Long> details) {

    public Measurement {
        if (probeRows < 1 || elapsedNs < 1) {
            throw new IllegalArgumentException(
                    "No rate without rows or time: probeRows="
                            + probeRows
                            + ", elapsedNs="
                            + elapsedNs);
        }
        details = Map.copyOf(details);
    }

    public double tuplesPerSecond() {
        return probeRows * 1e9 / elapsedNs;
    }

    public boolean isCorrect() {
        return answer.equals(expected);
    }
}
