// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.ssb;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The figures of a run: seconds by query and contender, and sums by contender. */
public final class SsbTable {

    private static final String DUCKDB = "duckdb";

    private final List<SsbFigure> figures;

    /**
     * The sum of a contender's figures.
     *
     * @param seconds of all queries
     * @param workSeconds the same without start-up
     * @param timesDuckDb {@code seconds} divided by DuckDB's; NaN without DuckDB
     * @param workTimesDuckDb the same without start-up
     */
    public record Total(
            String contender,
            int queries,
            double seconds,
            double workSeconds,
            double timesDuckDb,
            double workTimesDuckDb) {}

    public SsbTable(List<SsbFigure> figures) {
        this.figures = List.copyOf(figures);
    }

    /** Returns the totals in the order of the contenders. */
    public List<Total> totals() {
        Map<String, double[]> sums = new LinkedHashMap<>();
        for (SsbFigure figure : figures) {
            double[] sum = sums.computeIfAbsent(figure.contender(), name -> new double[3]);
            sum[0]++;
            sum[1] += figure.seconds();
            sum[2] += figure.workSeconds();
        }
        double[] duckDb = sums.getOrDefault(DUCKDB, new double[] {0, Double.NaN, Double.NaN});
        return sums.entrySet().stream()
                .map(
                        entry -> {
                            double[] sum = entry.getValue();
                            return new Total(
                                    entry.getKey(),
                                    (int) sum[0],
                                    sum[1],
                                    sum[2],
                                    sum[1] / duckDb[1],
                                    sum[2] / duckDb[2]);
                        })
                .toList();
    }

    /**
     * Returns lines of text: a column a contender, a row a query, with seconds and, in brackets,
     * those of them that are start-up.
     */
    public String text() {
        List<String> contenders = figures.stream().map(SsbFigure::contender).distinct().toList();
        StringBuilder text = new StringBuilder("query");
        contenders.forEach(name -> text.append(format("%22s", name)));
        text.append(System.lineSeparator());
        for (String query : figures.stream().map(SsbFigure::query).distinct().toList()) {
            text.append(format("%-5s", query));
            figures.stream()
                    .filter(figure -> figure.query().equals(query))
                    .forEach(
                            figure ->
                                    text.append(
                                            format(
                                                    "%13.3f (%.3f)%s",
                                                    figure.seconds(),
                                                    figure.startupSeconds(),
                                                    figure.isRight() ? " " : "!")));
            text.append(System.lineSeparator());
        }
        return text.toString();
    }

    private static String format(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }
}
