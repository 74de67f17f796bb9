// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.join;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Runs contenders in turn, round by round, so that a machine that gets slower or faster meanwhile
 * does so for all of them. The first round warms up and is not counted.
 */
public final class Rounds {

    private final List<Contender> contenders;
    private final Consumer<String> progress;

    public Rounds(List<Contender> contenders, Consumer<String> progress) {
        this.contenders = List.copyOf(contenders);
        this.progress = progress;
    }

    /** Results in the order of the contenders, whether right or wrong. */
    public List<ContenderResult> run(int rounds) throws Exception {
        if (rounds < 1) {
            throw new IllegalArgumentException("No rounds: rounds=" + rounds);
        }
        List<List<Measurement>> measured = new ArrayList<>();
        for (Contender contender : contenders) {
            progress.accept("preparing " + contender.name());
            contender.prepare();
            measured.add(new ArrayList<>());
        }
        for (int round = 0; round <= rounds; round++) {
            for (int i = 0; i < contenders.size(); i++) {
                Measurement measurement = measure(round, contenders.get(i));
                if (round > 0) {
                    measured.get(i).add(measurement);
                }
            }
        }
        List<ContenderResult> results = new ArrayList<>();
        for (int i = 0; i < contenders.size(); i++) {
            results.add(new ContenderResult(contenders.get(i).name(), measured.get(i)));
        }
        return results;
    }

    private Measurement measure(int round, Contender contender) throws Exception {
        System.gc(); // what the contender before left behind is not this one's to clear
        Measurement measurement = contender.run();
        progress.accept(
                String.format(
                        "%s %s: %.3f M tuples/s over %d rows",
                        round == 0 ? "warm-up" : "round " + round,
                        contender.name(),
                        measurement.tuplesPerSecond() / 1e6,
                        measurement.probeRows()));
        return measurement;
    }
}
