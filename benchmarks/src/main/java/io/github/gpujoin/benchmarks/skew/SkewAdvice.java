// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.skew;

import io.github.gpujoin.benchmarks.skew.SkewedFacts.HeavyKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.LongStream;

/** What a user should change, by what was measured at one exponent. */
final class SkewAdvice {

    /** Below this share of another mode's rate a mode is called slower: noise is less. */
    private static final double CLEARLY_SLOWER = 0.9;

    /** From this share of all facts on, a key is called heavy. */
    private static final double HEAVY = 0.05;

    private SkewAdvice() {}

    /**
     * @param runs of the same facts, one for each mode, the most adaptive last
     */
    static List<String> of(List<SkewRun> runs, int workers) {
        List<String> advice = new ArrayList<>();
        SkewedFacts facts = runs.get(0).facts();
        SkewRun adaptive = runs.get(runs.size() - 1);
        for (SkewRun run : runs.subList(0, runs.size() - 1)) {
            if (run.rate() < CLEARLY_SLOWER * adaptive.rate()) {
                advice.add(straggler(run, adaptive, workers));
            } else if (adaptive.rate() < CLEARLY_SLOWER * run.rate()) {
                advice.add(faster(run, adaptive));
            }
        }
        if (advice.isEmpty()) {
            advice.add(
                    "Leave it to "
                            + adaptive.mode().name()
                            + ", the default, how work is given out: no other way is clearly"
                            + " faster or slower here.");
        }
        advice.addAll(ofKeys(facts));
        advice.addAll(ofSubtasks(facts));
        return advice;
    }

    private static String straggler(SkewRun run, SkewRun adaptive, int workers) {
        return text(
                "Keep %s, the default: %s has %.0f %% of its rate, since worker %d is still busy"
                        + " while the workers together stand still for %.0f %% of the time.",
                adaptive.mode().name(),
                run.mode().name(),
                100 * run.rate() / adaptive.rate(),
                run.lastWorker(),
                100 * (1 - run.busyShare(workers)));
    }

    private static String faster(SkewRun run, SkewRun adaptive) {
        return text(
                "%s, the default, is not the fastest way here: %s joins %.1f million facts a second,"
                        + " and it %.1f. Measure again with more --rounds before you trust that.",
                adaptive.mode().name(), run.mode().name(), run.rate(), adaptive.rate());
    }

    private static List<String> ofKeys(SkewedFacts facts) {
        HeavyKey heaviest = facts.heaviest().get(0);
        double share = (double) heaviest.rows() / facts.rows();
        if (share < HEAVY) {
            return List.of();
        }
        return List.of(
                text(
                        "Customer %d alone has %.0f %% of the facts. Where it is a stand-in for"
                                + " \"unknown\", make it null: a null key matches nothing and is"
                                + " dropped first.",
                        heaviest.key(), 100 * share));
    }

    /** What Flink's subtasks would have to do if facts were sent to them by this key. */
    private static List<String> ofSubtasks(SkewedFacts facts) {
        long largest = LongStream.of(facts.partitionRows()).max().orElseThrow();
        double share = (double) largest / facts.rows();
        double even = 1.0 / facts.partitionRows().length;
        if (share < 2 * even) {
            return List.of();
        }
        return List.of(
                text(
                        "Do not partition this dimension while it fits each TaskManager"
                                + " (.replicated(), or a larger gpu-join.replicate-max-bytes): one of"
                                + " the %d partitions has %.0f %% of the facts, %.0f times its even"
                                + " share, so more than %d subtasks would not make the job faster.",
                        facts.partitionRows().length,
                        100 * share,
                        share / even,
                        Math.max(1, Math.round(1 / share))));
    }

    private static String text(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }
}
