// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import io.github.gpujoin.flink.record.SnapshotDamage;
import java.io.Serializable;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.flink.api.dag.Transformation;
import org.jspecify.annotations.Nullable;

/**
 * The generation of each dimension, and the operators before it. If a snapshot is of an earlier
 * generation, the dimension's rows are dropped and it is read from the start.
 *
 * @param dimensions in their order
 * @param facts operators in front of the facts
 */
public record Generations(List<Side> dimensions, Upstream facts) implements Serializable {

    /** A join whose dimensions are read once. */
    public static final Generations NONE =
            new Generations(List.of(), new Upstream(List.of(), false));

    /** The generation of a dimension. */
    public record Side(String dimension, int generation, Upstream upstream)
            implements Serializable {}

    /**
     * Operators before a side.
     *
     * @param uids of the operators that have one
     * @param hasAnonymousSource whether a source has no uid, so Flink numbers it by its position in
     *     the job
     */
    public record Upstream(List<String> uids, boolean hasAnonymousSource) implements Serializable {

        public Upstream {
            uids = List.copyOf(new TreeSet<>(uids));
        }

        public static Upstream of(Transformation<?> last) {
            Set<String> uids = new TreeSet<>();
            boolean hasAnonymousSource = false;
            for (Transformation<?> each : last.getTransitivePredecessors()) {
                if (each.getUid() != null) {
                    uids.add(each.getUid());
                } else {
                    hasAnonymousSource |= each.getInputs().isEmpty();
                }
            }
            return new Upstream(List.copyOf(uids), hasAnonymousSource);
        }

        List<String> shared(List<String> others) {
            return uids.stream().filter(others::contains).toList();
        }
    }

    public Generations {
        dimensions = List.copyOf(dimensions);
    }

    /** A side in a snapshot: the generation, then the uids, one a line. */
    static String text(Side side) {
        return side.generation + "\n" + String.join("\n", side.upstream.uids);
    }

    /**
     * Determines the dimensions to read again.
     *
     * @param saved {@link #text} by name
     * @return their numbers
     * @throws IllegalStateException if a dimension would not be read from the start
     */
    Set<Integer> readAgain(Map<String, String> saved) {
        Set<Integer> again = new HashSet<>();
        for (int d = 0; d < dimensions.size(); d++) {
            if (isReadAgain(dimensions.get(d), saved.get(dimensions.get(d).dimension))) {
                again.add(d);
            }
        }
        return again;
    }

    private boolean isReadAgain(Side now, @Nullable String saved) {
        if (saved == null && now.generation == 0) {
            return false;
        }
        if (saved == null) {
            throw new IllegalStateException(
                    String.format(
                            "The snapshot does not hold where dimension '%s' was read from."
                                    + "\nRestore it without a generation, and read the dimension again"
                                    + " from the next savepoint.",
                            now.dimension));
        }
        List<String> lines = List.of(saved.split("\n", -1));
        int was = generation(now.dimension, lines.get(0));
        if (was == now.generation) {
            return false;
        }
        if (was > now.generation) {
            throw new IllegalStateException(
                    String.format(
                            "Generation of dimension '%s' was %d and is %d. Keep it, or raise it to"
                                    + " read the dimension again.",
                            now.dimension, was, now.generation));
        }
        requireFromStart(now, lines.subList(1, lines.size()));
        return true;
    }

    private static int generation(String dimension, String text) {
        try {
            return Integer.parseInt(text);
        } catch (NumberFormatException e) {
            throw SnapshotDamage.in(
                    JoinMetadata.GENERATIONS,
                    "a generation is no number: dimension=%s, value=%s".formatted(dimension, text),
                    e);
        }
    }

    private void requireFromStart(Side now, List<String> uidsBefore) {
        List<String> kept = now.upstream.shared(uidsBefore);
        if (!kept.isEmpty()) {
            throw refused(
                    now, "operators before it keep their uids, and with them their state: " + kept);
        }
        if (now.upstream.hasAnonymousSource) {
            throw refused(now, "it has a source without a uid, whose state may be kept");
        }
        List<String> shared = now.upstream.shared(facts.uids);
        if (!shared.isEmpty()) {
            throw refused(
                    now,
                    "facts, which share operators with it, would be read again too: " + shared);
        }
    }

    private static IllegalStateException refused(Side now, String detail) {
        return new IllegalStateException(
                String.format(
                        "Dimension '%s' cannot be read again: %s.\nSet new uids for its source and all operators"
                                + " before the join, and restore with"
                                + " --allowNonRestoredState.",
                        now.dimension, detail));
    }
}
