// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.report;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The samples of a run of {@code bin/bench memory}. */
final class MemoryRuns {

    private static final double PROCESS_MIB = 1728;

    /** Samples in MiB by transport, by second. */
    private final Map<String, Map<String, Double>> samples = new LinkedHashMap<>();

    MemoryRuns(JsonNode document) {
        for (JsonNode observation : document.at("/observations")) {
            samples.computeIfAbsent(
                            observation.at("/values/transport").asText(),
                            transport -> new LinkedHashMap<>())
                    .put(
                            observation.at("/values/seconds").asText(),
                            observation.at("/values/resident_bytes").asDouble() / 0x1p20);
        }
    }

    /** Returns whether the document is of such a run. */
    static boolean isOf(JsonNode document) {
        return document.at("/command").asText().startsWith("bin/bench memory");
    }

    /** Appends a row for each transport. */
    void appendTable(StringBuilder page) {
        page.append("| transport | samples | peak, MiB | of ").append((int) PROCESS_MIB);
        page.append(" MiB |\n|---|---:|---:|---:|\n");
        samples.forEach(
                (transport, values) -> {
                    double peak = Collections.max(values.values());
                    page.append("| ").append(transport).append(" | ").append(values.size());
                    page.append(
                            String.format(
                                    Locale.ROOT,
                                    " | %.0f | %.0f %% |\n",
                                    peak,
                                    100 * peak / PROCESS_MIB));
                });
    }

    /** Returns the chart by its name. */
    Map<String, Plot> all() {
        List<String> seconds = new ArrayList<>(samples.values().iterator().next().keySet());
        Plot plot = new Plot("Resident memory (RSS) of a TaskManager", "s", "MiB", false, seconds);
        samples.forEach(
                (transport, values) -> plot.measured(transport, List.copyOf(values.values())));
        plot.limit("process size", Collections.nCopies(seconds.size(), PROCESS_MIB));
        return Map.of("taskmanager-rss", plot);
    }
}
