// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.join;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** What the join comparison prints. */
public final class TextReport {

    public static final String KEYED = "flink-keyed-datastream";
    public static final String DUCKDB = "duckdb";

    private static final String ROW = "%-24s %12s %10s %10s %10s %10s %10s%n";

    private final List<ContenderResult> results;

    public TextReport(List<ContenderResult> results) {
        this.results = List.copyOf(results);
    }

    /** One line a contender, for programs: {@code RESULT name tuples_per_second=n checksum=c}. */
    public String resultLines() {
        StringBuilder lines = new StringBuilder();
        for (ContenderResult result : results) {
            lines.append(
                    String.format(
                            Locale.ROOT,
                            "RESULT %s tuples_per_second=%d checksum=%d%n",
                            result.name(),
                            Math.round(result.tuplesPerSecond().median()),
                            result.checksum()));
        }
        return lines.toString();
    }

    /** Rates in million tuples a second, and how many times a peer's each is. */
    public String table() {
        StringBuilder table = new StringBuilder();
        table.append(row("contender", "probe rows", "min", "median", "max", "x keyed", "x duckdb"));
        for (ContenderResult result : results) {
            Summary rate = result.tuplesPerSecond();
            table.append(
                    row(
                            result.name(),
                            Long.toString(result.probeRows()),
                            millions(rate.min()),
                            millions(rate.median()),
                            millions(rate.max()),
                            ratio(rate.median(), KEYED),
                            ratio(rate.median(), DUCKDB)));
        }
        return table.toString();
    }

    /** Further figures of the last round. */
    public String details() {
        StringBuilder lines = new StringBuilder();
        for (ContenderResult result : results) {
            Map<String, Long> details = new TreeMap<>(result.details());
            if (!details.isEmpty()) {
                lines.append("DETAIL ").append(result.name());
                details.forEach((key, value) -> lines.append(' ').append(key + "=" + value));
                lines.append(System.lineSeparator());
            }
        }
        return lines.toString();
    }

    /** A sentence for each contender whose answer is wrong; empty if all are right. */
    public String disagreements() {
        StringBuilder lines = new StringBuilder();
        for (ContenderResult result : results) {
            if (!result.isCorrect()) {
                Measurement wrong = result.shown();
                lines.append("the answer must be the expected one: contender=")
                        .append(result.name())
                        .append(", answer=")
                        .append(wrong.answer())
                        .append(", expected=")
                        .append(wrong.expected())
                        .append(System.lineSeparator());
            }
        }
        return lines.toString();
    }

    private String ratio(double rate, String peer) {
        return results.stream()
                .filter(result -> result.name().equals(peer))
                .findFirst()
                .map(result -> rate / result.tuplesPerSecond().median())
                .map(ratio -> String.format(Locale.ROOT, ratio < 10 ? "%.2f" : "%.1f", ratio))
                .orElse("-");
    }

    private static String millions(double rate) {
        return String.format(Locale.ROOT, "%.3f", rate / 1e6);
    }

    private static String row(Object... cells) {
        return String.format(Locale.ROOT, ROW, cells);
    }
}
