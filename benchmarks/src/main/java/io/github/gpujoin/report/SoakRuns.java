// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.report;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/** Checkpoints and memory of runs of {@code bin/bench soak} behind slow sinks. */
final class SoakRuns {

    private static final Pattern OPTION = Pattern.compile("--(results|sink|fan-out) (\\S+)");

    /** Largest fan-out, whose runs the charts show. */
    private final int chartedFanOut;

    private final Map<Path, JsonNode> documents;

    /**
     * @param documents of such runs, by file
     */
    SoakRuns(Map<Path, JsonNode> documents) {
        this.documents = documents;
        this.chartedFanOut = documents.values().stream().mapToInt(SoakRuns::fanOut).max().orElse(1);
    }

    /** Whether the document is of such a run. */
    static boolean isOf(JsonNode document) {
        return document.at("/command").asText().startsWith("bin/bench soak");
    }

    private static Map<String, String> options(JsonNode document) {
        Map<String, String> options = new LinkedHashMap<>();
        Matcher matcher = OPTION.matcher(document.at("/command").asText());
        while (matcher.find()) {
            options.put(matcher.group(1), matcher.group(2));
        }
        return options;
    }

    private static int fanOut(JsonNode document) {
        return Integer.parseInt(options(document).getOrDefault("fan-out", "1"));
    }

    /** Returns a value of all observations of a run, oldest first. */
    private static List<Double> values(
            JsonNode document, String observations, String name, double unit) {
        List<Double> values = new ArrayList<>();
        for (JsonNode observation : document.at("/observations")) {
            if (observation.at("/name").asText().equals(observations)) {
                values.add(observation.at("/values/" + name).asDouble() / unit);
            }
        }
        return values;
    }

    private static List<Double> sizesMib(JsonNode document) {
        return values(document, "soak-checkpoint", "state_bytes", 0x1p20);
    }

    private static List<Double> durationsS(JsonNode document) {
        return values(document, "soak-checkpoint", "duration_ms", 1000);
    }

    private static List<Double> memoryMib(JsonNode document, String kind) {
        return values(document, "soak-memory", kind, 0x1p20);
    }

    /** Appends a row of each run. */
    void appendTable(StringBuilder page) {
        page.append(
                "| results | sink | fan-out | checkpoints | MiB, median | max | s, median | max");
        page.append(" | heap, max MiB | RSS, max MiB");
        page.append(" | |\n|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---|\n");
        documents.forEach(
                (file, document) -> {
                    Map<String, String> options = options(document);
                    List<Double> sizes = sizesMib(document);
                    page.append("| ").append(options.get("results"));
                    page.append(" | ").append(options.get("sink"));
                    page.append(" | ").append(fanOut(document));
                    page.append(" | ").append(sizes.size());
                    appendSpread(page, sizes);
                    appendSpread(page, durationsS(document));
                    page.append(
                            String.format(
                                    Locale.ROOT,
                                    " | %.0f",
                                    Collections.max(memoryMib(document, "heap_bytes"))));
                    page.append(
                            String.format(
                                    Locale.ROOT,
                                    " | %.0f",
                                    Collections.max(memoryMib(document, "resident_bytes"))));
                    page.append(" | [all figures](../benchmarks/results/");
                    page.append(file.getFileName()).append(") |\n");
                });
    }

    private static void appendSpread(StringBuilder page, List<Double> values) {
        List<Double> sorted = values.stream().sorted().toList();
        page.append(
                String.format(
                        Locale.ROOT,
                        " | %.1f | %.1f",
                        sorted.get(sorted.size() / 2),
                        sorted.get(sorted.size() - 1)));
    }

    /** Charts by name. */
    Map<String, Plot> all() {
        List<JsonNode> charted =
                documents.values().stream()
                        .filter(document -> fanOut(document) == chartedFanOut)
                        .toList();
        String behind = " behind slow sinks, fan-out " + chartedFanOut;
        Map<String, Plot> plots = new LinkedHashMap<>();
        plots.put(
                "soak-checkpoint-size",
                plot("Checkpoint size" + behind, "checkpoint", "MiB", charted, SoakRuns::sizesMib));
        plots.put(
                "soak-checkpoint-duration",
                plot(
                        "Checkpoint duration" + behind,
                        "checkpoint",
                        "s",
                        charted,
                        SoakRuns::durationsS));
        plots.put(
                "soak-heap",
                plot(
                        "Live heap" + behind,
                        "sample, 10 s apart",
                        "MiB",
                        charted,
                        document -> memoryMib(document, "heap_bytes")));
        plots.put(
                "soak-rss",
                plot(
                        "Resident memory (RSS)" + behind,
                        "sample, 10 s apart",
                        "MiB",
                        charted,
                        document -> memoryMib(document, "resident_bytes")));
        return plots;
    }

    /** A chart with a series for each run, as long as the shortest one. */
    private static Plot plot(
            String title,
            String xTitle,
            String yTitle,
            List<JsonNode> charted,
            Function<JsonNode, List<Double>> figure) {
        int count =
                charted.stream()
                        .mapToInt(document -> figure.apply(document).size())
                        .min()
                        .orElse(0);
        List<String> numbers = IntStream.rangeClosed(1, count).mapToObj(String::valueOf).toList();
        Plot plot = new Plot(title, xTitle, yTitle, false, numbers);
        for (JsonNode document : charted) {
            Map<String, String> options = options(document);
            plot.measured(
                    options.get("results") + ", " + options.get("sink"),
                    figure.apply(document).subList(0, count));
        }
        return plot;
    }
}
