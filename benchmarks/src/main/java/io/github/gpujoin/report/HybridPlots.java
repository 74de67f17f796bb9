// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.report;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/** The pictures of a run of {@code bin/bench hybrid}, by name. */
final class HybridPlots {

    private static final String RATE = "10^6 facts a second, one thread";

    /** A contender: what it probed, with which budget, how fast. */
    private record Point(long buildRows, long budgetPercent, double millionsPerS) {}

    private final boolean ofDevice;
    private final List<Point> floors;
    private final List<Point> points;

    HybridPlots(JsonNode document) {
        this.ofDevice = document.at("/command").asText().contains("--budget-of");
        this.floors = points(document, false);
        this.points = points(document, true);
    }

    /** Whether the document is of such a run. */
    static boolean isOf(JsonNode document) {
        return document.at("/command").asText().startsWith("bin/bench hybrid");
    }

    private static List<Point> points(JsonNode document, boolean hybrid) {
        return contenders(document)
                .filter(contender -> contender.at("/name").asText().startsWith("hybrid-") == hybrid)
                .map(
                        contender ->
                                new Point(
                                        detail(contender, "build_rows"),
                                        detail(contender, "budget_percent"),
                                        contender.at("/tuplesPerSecondMedian").asDouble() / 1e6))
                .toList();
    }

    private static Stream<JsonNode> contenders(JsonNode document) {
        return StreamSupport.stream(document.at("/contenders").spliterator(), false);
    }

    private static long detail(JsonNode contender, String name) {
        return contender.at("/rounds/0/details/" + name).asLong();
    }

    Map<String, Plot> all() {
        Map<String, Plot> plots = new LinkedHashMap<>();
        String name = ofDevice ? "hybrid-device" : "hybrid";
        plots.put(name + "-budget", byBudget());
        plots.put(name + "-size", bySize());
        return plots;
    }

    private Plot byBudget() {
        long rows = floors.get(0).buildRows();
        List<Point> sameRows =
                points.stream()
                        .filter(point -> point.buildRows() == rows)
                        .sorted(Comparator.comparingLong(Point::budgetPercent))
                        .toList();
        Plot plot =
                new Plot(
                        "Rate by memory budget of the " + owner(),
                        "budget in % of the build's peak memory; " + rows + " rows of 16 bytes",
                        RATE,
                        false,
                        sameRows.stream().map(point -> "" + point.budgetPercent()).toList());
        plot.measured("within the budget", rates(sameRows));
        return plot.limit(
                "CPU engine with all memory",
                sameRows.stream().map(point -> floor(point.buildRows())).toList());
    }

    private Plot bySize() {
        long fitting = floors.get(0).buildRows();
        List<Point> bySize =
                points.stream()
                        .filter(
                                point ->
                                        point.buildRows() != fitting
                                                || point.budgetPercent() == 100)
                        .sorted(Comparator.comparingLong(Point::buildRows))
                        .toList();
        Plot plot =
                new Plot(
                        "Rate by build rows",
                        "build rows of 16 bytes; memory of the " + owner() + " for " + fitting,
                        RATE,
                        false,
                        bySize.stream().map(point -> "" + point.buildRows()).toList());
        plot.measured("within the budget", rates(bySize));
        return plot.limit(
                "CPU engine with all memory",
                bySize.stream().map(point -> floor(point.buildRows())).toList());
    }

    /** The processor whose memory is limited. */
    private String owner() {
        return ofDevice ? "device" : "host";
    }

    private static List<Double> rates(List<Point> points) {
        return points.stream().map(Point::millionsPerS).toList();
    }

    private double floor(long buildRows) {
        return floors.stream()
                .filter(point -> point.buildRows() == buildRows)
                .mapToDouble(Point::millionsPerS)
                .findFirst()
                .orElse(Double.NaN);
    }
}
