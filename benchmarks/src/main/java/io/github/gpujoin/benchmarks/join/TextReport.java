// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.join;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** What the join comparison prints. */
public final class TextReport {

    public static final String KEYED = "flink-keyed-datastream";
    public static final String DUCKDB = "duckdb";

    private static final String COLUMNS = "%-24s %12s %10s %10s %10s";

    private final List<ContenderResult> results;

    /** Rates of the peers that have run, by the heading of their column. */
    private final Map<String, Double> peers = new LinkedHashMap<>();

    public TextReport(List<ContenderResult> results) {
        this.results = List.copyOf(results);
        for (ContenderResult result : results) {
            if (result.name().equals(KEYED)) {
                peers.put("x keyed", result.tuplesPerSecond().median());
            } else if (result.name().equals(DUCKDB)) {
                peers.put("x duckdb", result.tuplesPerSecond().median());
            }
        }
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

    /**
     * Rates in million tuples a second, and how many times a peer's each is. A peer that did not
     * run has no column.
     */
    public String table() {
        StringBuilder table = new StringBuilder();
        table.append(COLUMNS.formatted("contender", "probe rows", "min", "median", "max"));
        peers.keySet().forEach(heading -> table.append(cell(heading)));
        for (ContenderResult result : results) {
            Summary rate = result.tuplesPerSecond();
            table.append(System.lineSeparator());
            table.append(
                    COLUMNS.formatted(
                            result.name(),
                            Long.toString(result.probeRows()),
                            millions(rate.min()),
                            millions(rate.median()),
                            millions(rate.max())));
            peers.values().forEach(peer -> table.append(cell(ratio(rate.median() / peer))));
        }
        return table.append(System.lineSeparator()).toString();
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

    private static String ratio(double ratio) {
        return String.format(Locale.ROOT, ratio < 10 ? "%.2f" : "%.1f", ratio);
    }

    private static String millions(double rate) {
        return String.format(Locale.ROOT, "%.3f", rate / 1e6);
    }

    private static String cell(String text) {
        return " %10s".formatted(text);
    }
}
