// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.gpu;

import io.github.gpujoin.benchmarks.join.Summary;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** The figures of a run as aligned text. */
public final class GpuTable {

    private static final String ROW = "%-18s %10s %10s %10s %-10s %10s %6s %-5s %s%n";

    private GpuTable() {}

    public static String of(List<Figure> figures) {
        StringBuilder table = new StringBuilder();
        table.append(
                row("case", "min", "median", "max", "unit", "bound", "share", "check", "what"));
        for (Figure figure : figures) {
            Summary summary = figure.summary();
            boolean bounded = figure.bound() != null;
            table.append(
                    row(
                            figure.name(),
                            text(summary.min()),
                            text(summary.median()),
                            text(summary.max()),
                            figure.unit(),
                            bounded ? text(figure.bound()) : "-",
                            bounded ? String.format(Locale.ROOT, "%.2f", figure.share()) : "-",
                            figure.correct() ? "ok" : "WRONG",
                            what(figure.parameters())));
        }
        return table.toString();
    }

    private static String row(Object... cells) {
        return String.format(Locale.ROOT, ROW, cells);
    }

    private static String text(double figure) {
        return String.format(Locale.ROOT, figure < 100 ? "%.3f" : "%.1f", figure);
    }

    private static String what(Map<String, String> parameters) {
        return parameters.entrySet().stream()
                .map(entry -> entry.getKey() + "=" + entry.getValue())
                .collect(Collectors.joining(" "));
    }
}
