// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.report;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gpujoin.benchmarks.gpu.Figure;
import io.github.gpujoin.benchmarks.gpu.GpuReport;
import io.github.gpujoin.benchmarks.join.Summary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The page of all that was measured, made of the committed results alone: the newest run of {@code
 * bin/bench gpu}, with pictures, and every run of {@code bin/bench join}.
 */
public final class PerformancePage {

    /** Where pictures lie, beside the page. */
    public static final String PICTURES = "performance";

    private final Path gpuFile;
    private final GpuReport gpu;
    private final Map<Path, JsonNode> joins = new LinkedHashMap<>();
    private final Map<Path, JsonNode> observations = new LinkedHashMap<>();
    private final Map<Path, JsonNode> soaks = new LinkedHashMap<>();
    private final Map<Path, JsonNode> memory = new LinkedHashMap<>();

    private PerformancePage(Path gpuFile, GpuReport gpu) {
        this.gpuFile = gpuFile;
        this.gpu = gpu;
    }

    /**
     * @param results folder of the committed results
     */
    public static PerformancePage of(Path results) throws IOException {
        ObjectMapper mapper = new ObjectMapper();
        Map<Path, GpuReport> gpus = new LinkedHashMap<>();
        Map<Path, JsonNode> joins = new LinkedHashMap<>();
        Map<Path, JsonNode> observations = new LinkedHashMap<>();
        for (Path file : jsonFiles(results)) {
            JsonNode document = mapper.readTree(file.toFile());
            if (document.has("figures")) {
                gpus.put(file, GpuReport.read(file));
            } else if (document.has("contenders")) {
                joins.put(file, document);
            } else if (document.has("observations")) {
                observations.put(file, document);
            }
        }
        Map.Entry<Path, GpuReport> newest =
                gpus.entrySet().stream()
                        .max(Comparator.comparing(entry -> entry.getValue().time()))
                        .orElseThrow(
                                () ->
                                        new IllegalStateException(
                                                "No results of bin/bench gpu: results=" + results));
        PerformancePage page = new PerformancePage(newest.getKey(), newest.getValue());
        page.joins.putAll(joins);
        observations.forEach((file, document) -> page.kindOf(document).put(file, document));
        return page;
    }

    private Map<Path, JsonNode> kindOf(JsonNode document) {
        if (MemoryRuns.isOf(document)) {
            return memory;
        }
        return SoakRuns.isOf(document) ? soaks : observations;
    }

    private static List<Path> jsonFiles(Path results) throws IOException {
        try (Stream<Path> files = Files.list(results)) {
            return files.filter(file -> file.toString().endsWith(".json")).sorted().toList();
        }
    }

    /** Pictures by file name. */
    Map<String, Plot> plots() {
        Map<String, Plot> plots = new LinkedHashMap<>();
        new Plots(new Figures(gpu.figures()))
                .all()
                .forEach((name, plot) -> plots.put(name + ".svg", plot));
        joins.values().forEach(document -> plots.putAll(joinPlots(document)));
        plots.putAll(soakPlots());
        memory.values().forEach(document -> plots.putAll(memoryPlots(document)));
        return plots;
    }

    private static Map<String, Plot> joinPlots(JsonNode document) {
        Map<String, Plot> plots = new LinkedHashMap<>();
        if (HybridPlots.isOf(document)) {
            new HybridPlots(document).all().forEach((name, plot) -> plots.put(name + ".svg", plot));
        }
        return plots;
    }

    private Map<String, Plot> soakPlots() {
        Map<String, Plot> plots = new LinkedHashMap<>();
        if (!soaks.isEmpty()) {
            new SoakRuns(soaks).all().forEach((name, plot) -> plots.put(name + ".svg", plot));
        }
        return plots;
    }

    private static Map<String, Plot> memoryPlots(JsonNode document) {
        Map<String, Plot> plots = new LinkedHashMap<>();
        new MemoryRuns(document).all().forEach((name, plot) -> plots.put(name + ".svg", plot));
        return plots;
    }

    /** Writes the page and its pictures. */
    public void write(Path docs) throws IOException {
        Path pictures = Files.createDirectories(docs.resolve(PICTURES));
        for (Map.Entry<String, Plot> plot : plots().entrySet()) {
            Files.writeString(pictures.resolve(plot.getKey()), plot.getValue().svg());
        }
        Files.writeString(docs.resolve("performance.md"), markdown());
    }

    String markdown() {
        StringBuilder page = new StringBuilder();
        page.append("# Performance\n\n");
        page.append("Made by `bin/bench report` of [benchmarks/results](../benchmarks/results);");
        page.append(" not to be edited. How it came about, and what each version measured:");
        page.append(" [GPU engine](performance-notes-gpu.md), [join of resident tables]");
        page.append("(performance-notes-resident-join.md), [CPU](performance-notes.md),");
        page.append(
                " [transports](performance-notes-transport.md). What more GPUs and nodes would");
        page.append(" reach: [performance model](performance-model.md).\n\n");
        appendRun(page);
        appendTargets(page);
        appendPictures(page);
        appendCases(page);
        joins.forEach((file, document) -> appendJoin(page, file, document));
        observations.forEach(
                (file, document) -> {
                    appendHeading(page, file, document);
                    ObservationTables.append(page, document.at("/observations"));
                });
        appendSoaks(page);
        memory.forEach((file, document) -> appendMemory(page, file, document));
        return page.toString();
    }

    private void appendSoaks(StringBuilder page) {
        if (soaks.isEmpty()) {
            return;
        }
        Map.Entry<Path, JsonNode> first = soaks.entrySet().iterator().next();
        page.append("\n## Checkpoints behind slow sinks\n\n");
        page.append(soaks.size()).append(" runs side by side, each as `");
        page.append(first.getValue().at("/command").asText()).append("`, ");
        page.append(first.getValue().at("/machine/cores").asInt()).append(" cores of ");
        page.append(first.getValue().at("/machine/cpu").asText()).append(", ");
        page.append(first.getValue().at("/time").asText(), 0, 10).append(".\n\n");
        new SoakRuns(soaks).appendTable(page);
        soakPlots().forEach((name, plot) -> appendPicture(page, name, plot));
    }

    private static void appendMemory(StringBuilder page, Path file, JsonNode document) {
        appendHeading(page, file, document);
        new MemoryRuns(document).appendTable(page);
        memoryPlots(document).forEach((name, plot) -> appendPicture(page, name, plot));
    }

    private void appendRun(StringBuilder page) {
        page.append("## ").append(gpu.gpu()).append(", ").append(gpu.time(), 0, 10).append("\n\n");
        page.append(
                String.format(
                        Locale.ROOT,
                        "`%s` on %d cores of %s, %s: %d cases in %.0f s, %s; [all figures](%s). A"
                                + " figure is the median of five rounds. A bound follows from the"
                                + " bytes that must cross the bus or the device's memory and the"
                                + " ceiling that was measured in the same run.\n\n",
                        gpu.command(),
                        gpu.machine().cores(),
                        gpu.machine().cpu(),
                        gpu.machine().os(),
                        gpu.figures().size(),
                        gpu.elapsedS(),
                        gpu.isCorrect() ? "every answer right" : "SOME ANSWERS WRONG",
                        link(gpuFile)));
        page.append("| ceiling | | |\n|---|---:|---|\n");
        for (Figure figure : gpu.figures()) {
            if (figure.name().startsWith("ceiling-")) {
                page.append("| ").append(figure.name().substring("ceiling-".length()));
                page.append(" | ").append(number(figure.summary().median()));
                page.append(" | ").append(figure.unit()).append(" |\n");
            }
        }
    }

    private void appendTargets(StringBuilder page) {
        page.append("\n### Targets\n\n");
        page.append("| work | must | aim | reached | |\n|---|---:|---:|---:|---|\n");
        for (Targets.Target target : new Targets(new Figures(gpu.figures())).all()) {
            page.append("| ").append(target.work());
            page.append(" | ").append(number(target.must()));
            page.append(" | ").append(number(target.aim()));
            page.append(" | ").append(number(target.reached())).append(' ').append(target.unit());
            page.append(" | ").append(target.verdict()).append(" |\n");
        }
        appendBothWays(page);
    }

    /** Why the slower direction's ceiling is out of reach where both are busy. */
    private void appendBothWays(StringBuilder page) {
        Figures figures = new Figures(gpu.figures());
        double bothWays = figures.median("ceiling-zero-copy-both-ways");
        double best =
                figures.all("ring-probe", "tuple_bytes", 16, "matches", 1, "result_bytes", 16)
                        .mapToDouble(figure -> 16 * figure.summary().median())
                        .max()
                        .orElse(Double.NaN);
        page.append(
                String.format(
                        Locale.ROOT,
                        "%nA kernel that only copies mapped host memory gets %.1f GB/s each way:"
                                + " requests of reads travel with the data of writes. 16 bytes in"
                                + " and 16 out a fact reach %.0f %% of that. The pipelined join is"
                                + " the engine's, keys in and 12 bytes out; with whole tuples in it"
                                + " is %.2f times as fast as the blocking one.%n",
                        bothWays,
                        100 * best / bothWays,
                        new Targets(figures).blockingRatio(16)));
    }

    private void appendPictures(StringBuilder page) {
        page.append("\n### Pictures\n");
        new Plots(new Figures(gpu.figures()))
                .all()
                .forEach((name, plot) -> appendPicture(page, name + ".svg", plot));
    }

    private static void appendPicture(StringBuilder page, String file, Plot plot) {
        page.append("\n![").append(plot.title()).append("](" + PICTURES + "/");
        page.append(file).append(")\n");
    }

    private void appendCases(StringBuilder page) {
        page.append("\n### All cases\n\n");
        page.append("| case | what | median | min to max | unit | share of bound |\n");
        page.append("|---|---|---:|---|---|---:|\n");
        for (Figure figure : gpu.figures()) {
            Summary summary = figure.summary();
            String share =
                    figure.bound() == null
                            ? ""
                            : String.format(Locale.ROOT, "%.0f %%", 100 * figure.share());
            page.append("| ").append(figure.name());
            page.append(" | ").append(what(figure));
            page.append(" | ").append(number(summary.median()));
            page.append(" | ").append(number(summary.min())).append(" to ");
            page.append(number(summary.max()));
            page.append(" | ").append(figure.unit());
            page.append(" | ").append(share).append(figure.correct() ? "" : " WRONG");
            page.append(" |\n");
        }
    }

    private static String what(Figure figure) {
        return figure.parameters().entrySet().stream()
                .map(entry -> entry.getKey() + "=" + entry.getValue())
                .collect(Collectors.joining(" "));
    }

    private static void appendJoin(StringBuilder page, Path file, JsonNode document) {
        appendHeading(page, file, document);
        page.append("| contender | probe rows | M tuples/s, median | min to max | answer |\n");
        page.append("|---|---:|---:|---|---|\n");
        for (JsonNode contender : document.at("/contenders")) {
            page.append("| ").append(contender.at("/name").asText());
            page.append(" | ").append(contender.at("/probeRows").asLong());
            page.append(" | ").append(millions(contender, "Median"));
            page.append(" | ").append(millions(contender, "Min")).append(" to ");
            page.append(millions(contender, "Max"));
            page.append(" | ").append(contender.at("/correct").asBoolean() ? "right" : "WRONG");
            page.append(" |\n");
        }
        joinPlots(document).forEach((name, plot) -> appendPicture(page, name, plot));
    }

    private static void appendHeading(StringBuilder page, Path file, JsonNode document) {
        page.append("\n## ").append(document.at("/command").asText()).append("\n\n");
        page.append(document.at("/machine/cores").asInt()).append(" cores of ");
        page.append(document.at("/machine/cpu").asText()).append(", ");
        page.append(document.at("/time").asText(), 0, 10);
        page.append("; [all figures](").append(link(file)).append(").\n\n");
    }

    private static String millions(JsonNode contender, String which) {
        return number(contender.at("/tuplesPerSecond" + which).asDouble() / 1e6);
    }

    private static String link(Path file) {
        return "../benchmarks/results/" + file.getFileName();
    }

    private static String number(double value) {
        if (Double.isNaN(value)) {
            return "-";
        }
        double size = Math.abs(value);
        String format = size >= 100 ? "%.0f" : size >= 10 ? "%.1f" : size >= 1 ? "%.2f" : "%.3f";
        String text = String.format(Locale.ROOT, format, value);
        return value == Math.rint(value) ? String.valueOf((long) value) : text;
    }
}
