// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.systemtests.soak;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToLongFunction;

/**
 * Judges whether checkpoints of an endless job stay as large and as long as they were: the median
 * of the last third against that of the second. The first third is warm-up.
 */
public final class CheckpointTrend {

    /** Fewer checkpoints show no trend. */
    public static final int MIN_CHECKPOINTS = 6;

    private static final long STATE_SLACK_BYTES = 4L << 20;
    private static final long DURATION_SLACK_MS = 2_000;

    /**
     * A completed checkpoint.
     *
     * @param stateBytes that it refers to
     * @param durationMs from its trigger to its completion
     */
    public record Sample(long id, long stateBytes, long durationMs) {}

    private final List<Sample> samples = new ArrayList<>();

    /** Adds a checkpoint, unless that or a later one was added before. */
    public void add(Sample sample) {
        if (samples.isEmpty() || samples.get(samples.size() - 1).id() < sample.id()) {
            samples.add(sample);
        }
    }

    /** The checkpoints, oldest first. */
    public List<Sample> samples() {
        return List.copyOf(samples);
    }

    /** Median duration of all checkpoints; 0 without any. */
    public long medianDurationMs() {
        return samples.isEmpty() ? 0 : median(samples, Sample::durationMs);
    }

    /**
     * What grew by more than a slack of 4 MiB or 2 s, with how much; empty if nothing did.
     *
     * @throws IllegalStateException for fewer than {@value #MIN_CHECKPOINTS} checkpoints
     */
    public Map<String, Long> growth() {
        if (samples.size() < MIN_CHECKPOINTS) {
            throw new IllegalStateException(
                    "Too few checkpoints for a trend: completed=%d, needed=%d. Use a longer --minutes."
                            .formatted(samples.size(), MIN_CHECKPOINTS));
        }
        Map<String, Long> growth = new TreeMap<>();
        check("stateBytes", Sample::stateBytes, STATE_SLACK_BYTES, growth);
        check("durationMs", Sample::durationMs, DURATION_SLACK_MS, growth);
        return growth;
    }

    private void check(
            String kind, ToLongFunction<Sample> figure, long slack, Map<String, Long> growth) {
        int third = samples.size() / 3;
        long early = median(samples.subList(third, 2 * third), figure);
        long late = median(samples.subList(samples.size() - third, samples.size()), figure);
        if (late - early > slack) {
            growth.put(kind, late - early);
        }
    }

    private static long median(List<Sample> part, ToLongFunction<Sample> figure) {
        return part.stream().mapToLong(figure).sorted().skip(part.size() / 2).findFirst().orElse(0);
    }
}
