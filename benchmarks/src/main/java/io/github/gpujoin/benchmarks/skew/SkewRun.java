// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.skew;

import io.github.gpujoin.benchmarks.skew.SkewEngine.Lap;
import io.github.gpujoin.benchmarks.skew.SkewEngine.Mode;
import io.github.gpujoin.benchmarks.skew.SkewEngine.Span;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Facts joined in one mode, some times over.
 *
 * @param lap the median one
 */
record SkewRun(Mode mode, SkewedFacts facts, Lap lap) {

    /**
     * Joins the facts in every mode, once to warm up and then so many times; modes take turns, so
     * that what else the machine does meets all of them.
     *
     * @throws IllegalStateException where an answer is wrong
     */
    static List<SkewRun> measure(SkewEngine engine, SkewedFacts facts, int rounds)
            throws Exception {
        Map<Mode, List<Lap>> laps = new LinkedHashMap<>();
        for (int round = 0; round <= rounds; round++) {
            for (Mode mode : engine.modes()) {
                Lap lap = checked(mode, facts, engine.join(mode, facts));
                if (round > 0) {
                    laps.computeIfAbsent(mode, m -> new ArrayList<>()).add(lap);
                }
            }
        }
        List<SkewRun> runs = new ArrayList<>();
        laps.forEach((mode, all) -> runs.add(new SkewRun(mode, facts, median(all))));
        return runs;
    }

    private static Lap checked(Mode mode, SkewedFacts facts, Lap lap) {
        if (!lap.answer().equals(facts.expected())) {
            throw new IllegalStateException(
                    "Wrong result of a grid mode: mode=%s, zipf=%s, expected=%s, found=%s"
                            .formatted(mode.name(), facts.zipf(), facts.expected(), lap.answer()));
        }
        return lap;
    }

    private static Lap median(List<Lap> laps) {
        laps.sort(Comparator.comparingLong(Lap::elapsedNs));
        return laps.get(laps.size() / 2);
    }

    /** Million facts a second. */
    double rate() {
        return facts.rows() * 1e3 / lap.elapsedNs();
    }

    /** Share of the workers' time in which they joined, from 0 to 1. */
    double busyShare(int workers) {
        long busyNs = 0;
        for (Span span : lap.spans()) {
            busyNs += span.endNs() - span.startNs();
        }
        return (double) busyNs / workers / lap.elapsedNs();
    }

    /** The worker that was busy last, and so the one that all waited for. */
    int lastWorker() {
        return lap.spans().stream()
                .max(Comparator.comparingLong(Span::endNs))
                .map(Span::worker)
                .orElse(0);
    }
}
