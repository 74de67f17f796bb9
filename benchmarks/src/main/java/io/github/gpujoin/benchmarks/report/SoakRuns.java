package io.github.gpujoin.benchmarks.report;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/** The checkpoints of runs of {@code bin/bench soak} behind slow sinks, as a table and charts. */
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

    /** State bytes in MiB, or durations in seconds, of all checkpoints of a run, oldest first. */
    private static List<Double> values(JsonNode document, String name, double unit) {
        List<Double> values = new ArrayList<>();
        for (JsonNode observation : document.at("/observations")) {
            values.add(observation.at("/values/" + name).asDouble() / unit);
        }
        return values;
    }

    private static List<Double> mebibytes(JsonNode document) {
        return values(document, "state_bytes", 0x1p20);
    }

    private static List<Double> seconds(JsonNode document) {
        return values(document, "duration_ms", 1000);
    }

    /** Appends a row of each run. */
    void appendTable(StringBuilder page) {
        page.append(
                "| results | sink | fan-out | checkpoints | MiB, median | max | s, median | max");
        page.append(" | |\n|---|---|---:|---:|---:|---:|---:|---:|---|\n");
        documents.forEach(
                (file, document) -> {
                    Map<String, String> options = options(document);
                    List<Double> sizes = mebibytes(document);
                    page.append("| ").append(options.get("results"));
                    page.append(" | ").append(options.get("sink"));
                    page.append(" | ").append(fanOut(document));
                    page.append(" | ").append(sizes.size());
                    appendSpread(page, sizes);
                    appendSpread(page, seconds(document));
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
        int checkpoints =
                charted.stream()
                        .mapToInt(document -> document.at("/observations").size())
                        .min()
                        .orElse(0);
        List<String> numbers =
                IntStream.rangeClosed(1, checkpoints).mapToObj(String::valueOf).toList();
        String behind = " behind slow sinks, fan-out " + chartedFanOut;
        Plot sizes = new Plot("Checkpoint size" + behind, "checkpoint", "MiB", false, numbers);
        Plot durations =
                new Plot("Checkpoint duration" + behind, "checkpoint", "s", false, numbers);
        for (JsonNode document : charted) {
            String series = options(document).get("results") + ", " + options(document).get("sink");
            sizes.measured(series, mebibytes(document).subList(0, checkpoints));
            durations.measured(series, seconds(document).subList(0, checkpoints));
        }
        Map<String, Plot> plots = new LinkedHashMap<>();
        plots.put("soak-checkpoint-size", sizes);
        plots.put("soak-checkpoint-duration", durations);
        return plots;
    }
}
