// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.join;

import java.util.List;
import java.util.Map;

/** All rounds of one contender; at least one. */
public record ContenderResult(String name, List<Measurement> rounds) {

    public ContenderResult {
        rounds = List.copyOf(rounds);
    }

    public Summary tuplesPerSecond() {
        return Summary.of(rounds.stream().map(Measurement::tuplesPerSecond).toList());
    }

    public boolean isCorrect() {
        return rounds.stream().allMatch(Measurement::isCorrect);
    }

    public long probeRows() {
        return rounds.get(0).probeRows();
    }

    /** Checksum of the first round that was wrong, or of the last. */
    public long checksum() {
        return shown().answer().checksum();
    }

    /** The first round that was wrong, or the last. */
    public Measurement shown() {
        return rounds.stream()
                .filter(round -> !round.isCorrect())
                .findFirst()
                .orElse(rounds.get(rounds.size() - 1));
    }

    public Map<String, Long> details() {
        return rounds.get(rounds.size() - 1).details();
    }
}
