// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.systemtests.soak;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToLongFunction;

/**
 * Decides whether memory grows: compares the median of the last quarter of the samples with that of
 * the second quarter. The first quarter is warm-up. Medians exclude samples that happen to include
 * an in-flight chunk. Not thread-safe.
 */
public final class MemoryTrend {

    /** Minimum number of samples for a result. */
    public static final int MIN_SAMPLES = 8;

    private final long liveSlackBytes;
    private final long residentSlackBytes;
    private final List<MemorySample> samples = new ArrayList<>();

    /**
     * @param liveSlackBytes tolerated growth of heap or regions
     * @param residentSlackBytes tolerated growth of the process, whose collector and allocator keep
     *     unused pages
     */
    public MemoryTrend(long liveSlackBytes, long residentSlackBytes) {
        this.liveSlackBytes = liveSlackBytes;
        this.residentSlackBytes = residentSlackBytes;
    }

    /** Adds a sample. Add samples in order of time, at equal intervals. */
    public void add(MemorySample sample) {
        samples.add(sample);
    }

    /**
     * Returns the growth in bytes of each kind of memory ({@code heap}, {@code regions}, {@code
     * resident}) that exceeds the slack; empty if memory does not grow.
     *
     * @throws IllegalStateException for fewer than {@value #MIN_SAMPLES} samples
     */
    public Map<String, Long> growthBytes() {
        if (samples.size() < MIN_SAMPLES) {
            throw new IllegalStateException(
                    "Too few samples for a trend: required="
                            + MIN_SAMPLES
                            + ", samples="
                            + samples.size());
        }
        Map<String, Long> growth = new TreeMap<>();
        check("heap", MemorySample::heapBytes, liveSlackBytes, growth);
        check("regions", MemorySample::regionBytes, liveSlackBytes, growth);
        check("resident", MemorySample::residentBytes, residentSlackBytes, growth);
        return growth;
    }

    private void check(
            String kind,
            ToLongFunction<MemorySample> figure,
            long slackBytes,
            Map<String, Long> growth) {
        int quarter = samples.size() / 4;
        long early = median(samples.subList(quarter, 2 * quarter), figure);
        long late = median(samples.subList(samples.size() - quarter, samples.size()), figure);
        if (late - early > slackBytes) {
            growth.put(kind, late - early);
        }
    }

    private static long median(List<MemorySample> part, ToLongFunction<MemorySample> figure) {
        return part.stream().mapToLong(figure).sorted().skip(part.size() / 2).findFirst().orElse(0);
    }
}
