// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.report;

import io.github.gpujoin.benchmarks.gpu.Figure;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** The pictures of a run, by name. */
final class Plots {

    private static final List<Integer> CHUNK_ROWS = List.of(1024, 2048, 4096, 8192, 16384, 32768);
    private static final List<Integer> TUPLE_BYTES = List.of(8, 16, 32, 64);

    private final Figures figures;

    Plots(Figures figures) {
        this.figures = figures;
    }

    Map<String, Plot> all() {
        Map<String, Plot> plots = new LinkedHashMap<>();
        plots.put("chunk-size", chunkSize());
        plots.put("tuple-width", tupleWidth());
        plots.put("dimensions", dimensions());
        plots.put("skew", skew());
        plots.put("blocking", blocking());
        return plots;
    }

    private Plot chunkSize() {
        List<String> kib = CHUNK_ROWS.stream().map(rows -> rows * 16 / 1024 + "").toList();
        Plot plot =
                new Plot(
                        "Chunk size against fan-out",
                        "KiB of a chunk (16-byte facts)",
                        "GB/s in the busier direction of the bus",
                        false,
                        kib);
        plot.measured("counted", CHUNK_ROWS.stream().map(rows -> bus(rows, 1, 0)).toList());
        for (int matches : new int[] {1, 4, 16}) {
            plot.measured(
                    matches + (matches == 1 ? " result a fact" : " results a fact"),
                    CHUNK_ROWS.stream().map(rows -> bus(rows, matches, 16)).toList());
        }
        for (String ceiling : List.of("read", "both-ways")) {
            double gbPerS = figures.median("ceiling-zero-copy-" + ceiling);
            plot.limit(ceiling + " ceiling", CHUNK_ROWS.stream().map(rows -> gbPerS).toList());
        }
        return plot;
    }

    /** Share of the bound times the ceiling that it comes from. */
    private double bus(int chunkRows, int matches, int resultBytes) {
        return figures.all(
                        "ring-probe",
                        "tuple_bytes",
                        16,
                        "chunk_rows",
                        chunkRows,
                        "matches",
                        matches,
                        "result_bytes",
                        resultBytes)
                .findFirst()
                .map(f -> f.share() * figures.median("ceiling-" + f.boundedBy()))
                .orElse(Double.NaN);
    }

    private Plot tupleWidth() {
        Plot plot =
                new Plot(
                        "Width of a fact",
                        "bytes of a fact (8192 rows a chunk)",
                        "10^9 facts a second",
                        false,
                        texts(TUPLE_BYTES));
        plot.measured("counted", rates(0, false));
        plot.measured("12 bytes of result", rates(12, false));
        plot.limit("bound, counted", rates(0, true));
        return plot.limit("bound, results", rates(12, true));
    }

    private List<Double> rates(int resultBytes, boolean bound) {
        return TUPLE_BYTES.stream()
                .map(
                        width ->
                                figures.all(
                                                "ring-probe",
                                                "tuple_bytes",
                                                width,
                                                "matches",
                                                1,
                                                "result_bytes",
                                                resultBytes)
                                        .reduce((first, last) -> last)
                                        .map(f -> bound ? f.bound() : f.summary().median())
                                        .orElse(Double.NaN))
                .toList();
    }

    private Plot dimensions() {
        List<Integer> numbers = IntStream.rangeClosed(1, 4).boxed().toList();
        Plot plot =
                new Plot(
                        "Chained dimensions",
                        "dimensions of 2^20 rows, 16 bytes a fact always",
                        "10^9 facts a second",
                        false,
                        texts(numbers));
        plot.measured("counted", numbers.stream().map(n -> star(n, 0).summary().median()).toList());
        plot.measured(
                "4 + 4n bytes of result",
                numbers.stream().map(n -> star(n, 4 + 4 * n).summary().median()).toList());
        plot.limit("bound, counted", numbers.stream().map(n -> star(n, 0).bound()).toList());
        return plot.limit(
                "bound, results", numbers.stream().map(n -> star(n, 4 + 4 * n).bound()).toList());
    }

    private Figure star(int dimensions, int resultBytes) {
        return figures.first(
                        "ring-star-join", "dimensions", dimensions, "result_bytes", resultBytes)
                .orElseThrow();
    }

    private Plot skew() {
        List<String> exponents = List.of("0.0", "0.5", "1.0", "1.5");
        Plot plot =
                new Plot(
                        "Skew by grid mode",
                        "Zipf exponent of the facts' keys, 64 partitions",
                        "10^9 facts a second, counted",
                        false,
                        exponents);
        for (String grid : List.of("static", "histogram", "adaptive")) {
            plot.measured(
                    grid,
                    exponents.stream()
                            .map(z -> figures.median("ring-skew", "grid", grid, "zipf", z))
                            .toList());
        }
        return plot.limit(
                "bound",
                exponents.stream()
                        .map(z -> figures.first("ring-skew", "zipf", z).orElseThrow().bound())
                        .toList());
    }

    private Plot blocking() {
        List<Figure> blocking = figures.all("blocking-join").toList();
        Plot plot =
                new Plot(
                        "Blocking (GPJ-B) against pipelined",
                        "10^9 probe rows, 0.6 x 10^9 build rows, 16 bytes each",
                        "seconds",
                        true,
                        blocking.stream()
                                .map(f -> f.number("probe_rows") / 1e9)
                                .map(rows -> String.format(Locale.ROOT, "%.1f", rows))
                                .toList());
        plot.measured("blocking", medians(blocking.stream()));
        plot.measured(
                "pipelined, tuples in", medians(figures.all("pipelined-join", "bytes_in", 16)));
        return plot.measured(
                "pipelined, keys in", medians(figures.all("pipelined-join", "bytes_in", 8)));
    }

    private static List<Double> medians(Stream<Figure> figures) {
        return figures.map(figure -> figure.summary().median()).toList();
    }

    private static List<String> texts(List<Integer> numbers) {
        return numbers.stream().map(String::valueOf).toList();
    }
}
