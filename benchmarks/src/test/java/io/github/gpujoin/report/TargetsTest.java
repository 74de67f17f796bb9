// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.benchmarks.gpu.Figure;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class TargetsTest {

    private static Figure figure(String name, String unit, double median, String... parameters) {
        Map<String, String> named = new LinkedHashMap<>();
        for (int i = 0; i < parameters.length; i += 2) {
            named.put(parameters[i], parameters[i + 1]);
        }
        return new Figure(name, named, unit, List.of(median), null, null, true, null, null);
    }

    private final Targets targets =
            new Targets(
                    new Figures(
                            List.of(
                                    figure("blocking-join", "s", 3, "probe_rows", "4000000000"),
                                    figure(
                                            "pipelined-join",
                                            "s",
                                            1.5,
                                            "probe_rows",
                                            "4000000000",
                                            "bytes_in",
                                            "8"),
                                    figure(
                                            "pipelined-join",
                                            "s",
                                            2,
                                            "probe_rows",
                                            "4000000000",
                                            "bytes_in",
                                            "16"),
                                    figure("ceiling-zero-copy-read", "GB/s", 48),
                                    figure("flink-star-join-gpu", "G", 1.5, "facts", "heap"),
                                    figure("flink-star-join-gpu", "G", 2.4, "facts", "slots"),
                                    figure("engine-latency", "us", 21))));

    private Targets.Target target(String work) {
        return targets.all().stream()
                .filter(target -> target.work().startsWith(work))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void shouldCompareTheBlockingJoinWithThePipelinedOneOfTheSameBytes() {
        assertThat(targets.blockingRatio(8)).isEqualTo(2);
        assertThat(targets.blockingRatio(16)).isEqualTo(1.5);
    }

    @Test
    void shouldSayThatAnAimIsReachedWhereLessIsBetter() {
        assertThat(target("latency").verdict()).isEqualTo("aim reached");
    }

    @Test
    void shouldTellFactsInSlotsFromThoseOnTheHeap() {
        assertThat(target("Flink job, 16-byte tuples from columns in slots").reached())
                .isEqualTo(80);
        assertThat(target("Flink job, 16-byte tuples from columns on the heap").reached())
                .isEqualTo(50);
    }

    @Test
    void shouldSayWhatWasNotMeasured() {
        assertThat(target("encoded 27-bit keys").verdict()).isEqualTo("not measured");
    }
}
