// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.apache.flink.streaming.runtime.streamrecord.StreamElement;

/**
 * Makes a life that fails short: takes faults and elements of sources out, in ever smaller pieces,
 * as long as the life still fails in the same way. Greedy delta debugging after Zeller and
 * Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002.
 */
final class Shrinker {

    /** Bound of the lives that it tries. */
    private static final int MAX_LIVES = 1_000;

    private final Function<Scenario, String> run;
    private int lives;

    /**
     * @param run gives what goes wrong in a life, null where nothing does
     */
    Shrinker(Function<Scenario, String> run) {
        this.run = run;
    }

    /**
     * The shortest life found.
     *
     * @param failure of the life
     */
    Scenario shrink(Scenario scenario, String failure) {
        String kind = kindOf(failure);
        Scenario shortest = scenario;
        boolean shorter = true;
        while (shorter && lives < MAX_LIVES) {
            Scenario before = shortest;
            shortest = withFewerFaults(shortest, kind);
            shortest = withFewerElements(shortest, kind);
            shortest = withEarlierFaults(shortest, kind);
            shorter = shortest != before;
        }
        return shortest;
    }

    /** Failures are of one kind where their messages begin alike. */
    private static String kindOf(String failure) {
        int values = failure.indexOf(':');
        int second = values < 0 ? -1 : failure.indexOf(':', values + 1);
        return failure.startsWith("task failed") && second > 0
                ? failure.substring(second).replaceAll("[0-9].*", "")
                : failure.substring(0, values < 0 ? failure.length() : values);
    }

    private boolean stillFails(Scenario scenario, String kind) {
        if (lives++ >= MAX_LIVES) {
            return false;
        }
        String failure = run.apply(scenario);
        return failure != null && failure.contains(kind);
    }

    private Scenario withFewerFaults(Scenario scenario, String kind) {
        Scenario shortest = scenario;
        for (int i = scenario.faults().size() - 1; i >= 0; i--) {
            List<Fault> fewer = new ArrayList<>(shortest.faults());
            fewer.remove(i);
            Scenario next = shortest.with(shortest.splits(), fewer);
            shortest = stillFails(next, kind) ? next : shortest;
        }
        return shortest;
    }

    private Scenario withEarlierFaults(Scenario scenario, String kind) {
        Scenario shortest = scenario;
        for (int i = 0; i < scenario.faults().size(); i++) {
            List<Fault> earlier = new ArrayList<>(shortest.faults());
            Fault fault = earlier.get(i);
            long after = i == 0 ? 0 : earlier.get(i - 1).step();
            if (fault.step() - after < 2) {
                continue;
            }
            earlier.set(i, fault.at((fault.step() + after) / 2));
            Scenario next = shortest.with(shortest.splits(), earlier);
            shortest = stillFails(next, kind) ? next : shortest;
        }
        return shortest;
    }

    private Scenario withFewerElements(Scenario scenario, String kind) {
        Scenario shortest = scenario;
        for (int piece = elements(scenario); piece >= 1; piece /= 2) {
            for (int from = 0; from < elements(shortest); ) {
                Scenario next = without(shortest, from, piece);
                if (elements(next) < elements(shortest) && stillFails(next, kind)) {
                    shortest = next;
                } else {
                    from += piece;
                }
            }
        }
        return shortest;
    }

    private static int elements(Scenario scenario) {
        return scenario.splits().stream().mapToInt(split -> split.script().size()).sum();
    }

    /** The life without some elements, counted over all splits. */
    private static Scenario without(Scenario scenario, int from, int count) {
        List<Split> rest = new ArrayList<>();
        int index = 0;
        for (Split split : scenario.splits()) {
            List<StreamElement> script = new ArrayList<>();
            for (StreamElement element : split.script()) {
                boolean isRemoved = index >= from && index < from + count;
                if (!isRemoved || scenario.completes(split, element)) {
                    script.add(element);
                }
                index++;
            }
            rest.add(new Split(split.source(), split.number(), script));
        }
        return scenario.with(rest, scenario.faults());
    }
}
