// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.report;

import io.github.gpujoin.benchmarks.gpu.Figure;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** What the GPU engine must reach on one Hopper GPU, what it aims at, and what a run reached. */
final class Targets {

    /**
     * A line of the table.
     *
     * @param lower whether less is better
     */
    record Target(
            String work, double must, double aim, String unit, boolean lower, double reached) {

        String verdict() {
            double sign = lower ? -1 : 1;
            if (Double.isNaN(reached)) {
                return "not measured";
            }
            if (sign * reached >= sign * aim) {
                return "aim reached";
            }
            if (sign * reached >= sign * must) {
                return "reached";
            }
            return String.format(
                    Locale.ROOT,
                    "missed: %.0f %% of it",
                    100 * (lower ? must / reached : reached / must));
        }
    }

    private static final String JOB = "flink-star-join-gpu";
    private static final String RESULT = "result_bytes";
    private static final String ROWS = "G rows/s";

    private final Figures figures;

    Targets(Figures figures) {
        this.figures = figures;
    }

    List<Target> all() {
        List<Target> targets = new ArrayList<>();
        targets.add(
                share(
                        "16-byte tuples from pinned rings, probing 2^27 rows, counted",
                        95,
                        98,
                        bestRing(0)));
        targets.add(share("the same, 16 bytes of result a row", 85, 95, bestRing(16)));
        targets.add(share("the same, 24 bytes of result a row", 85, 95, bestRing(24)));
        targets.add(
                more("star join, 4 dimensions against 1, counted", 90, 98, "%", 100 * starRatio()));
        targets.add(resident("in-GPU join 2^27 x 2^29, 64-bit", 25, 40, 64, 1 << 27));
        targets.add(resident("in-GPU join 2^28 x 2^28, 64-bit", 28, 45, 64, 1 << 28));
        targets.add(resident("in-GPU join 2^28 x 2^28, 32-bit", 40, 60, 32, 1 << 28));
        targets.add(more("pipelined against blocking (GPJ-B)", 1.7, 2, "times", blockingRatio(8)));
        targets.add(
                more("probe skew Zipf 1.0 against uniform", 99, 100, "%", skew("adaptive", 1.0)));
        targets.add(
                more("probe skew Zipf 1.5 against uniform", 99, 100, "%", skew("adaptive", 1.5)));
        targets.add(
                more("Zipf 1.5, adaptive against static", 3, 3, "times", overStatic("adaptive")));
        targets.add(
                more("Zipf 1.5, histogram against static", 3, 3, "times", overStatic("histogram")));
        addEncoded(targets);
        double job = figures.median(JOB, "facts", "slots");
        targets.add(
                more(
                        "Flink job, 16-byte tuples from columns in slots",
                        70,
                        90,
                        "% of the bus",
                        100 * job / plainBound()));
        targets.add(
                more(
                        "the same, encoded (27-bit keys, 20-bit payload)",
                        1.5,
                        2.5,
                        "times the plain bus",
                        figures.median(JOB + "-encoded") / plainBound()));
        targets.add(
                more(
                        "Flink job, 16-byte tuples from columns on the heap",
                        25,
                        90,
                        "% of the bus",
                        100 * figures.median(JOB, "facts", "heap") / plainBound()));
        double keyed = figures.median("flink-keyed-datastream");
        targets.add(
                more(
                        "Flink job, in slots, against Flink's keyed join",
                        100,
                        500,
                        "times",
                        job / keyed));
        targets.add(
                new Target(
                        "latency of one small chunk, median",
                        100,
                        30,
                        "us",
                        true,
                        figures.median("engine-latency")));
        return targets;
    }

    private void addEncoded(List<Target> targets) {
        targets.add(
                more(
                        "encoded 27-bit keys from pinned rings, probing 2^27 rows, counted",
                        14,
                        15,
                        ROWS,
                        best("encoded-ring-probe", "key_bits", 27, "tuple_bytes", 8, RESULT, 0)));
        targets.add(
                more(
                        "16 plain bytes in, 16 bytes of result, packed",
                        2.9,
                        3.1,
                        ROWS,
                        best("ring-probe-packed", "tuple_bytes", 16, RESULT, 16)));
        targets.add(
                more(
                        "27-bit keys and 20-bit values in, results packed",
                        5,
                        8,
                        ROWS,
                        best("encoded-ring-probe-packed", "key_bits", 27, RESULT, 16)));
        targets.add(
                more(
                        "ring in shared memory, written by another process, read in place",
                        90,
                        97,
                        "% of the bus",
                        100 * best("shm-ring-probe", "access", "in-place") / plainBound()));
    }

    /** G tuples/s of 16 bytes that the bus carries. */
    private double plainBound() {
        return figures.median("ceiling-zero-copy-read") / 16;
    }

    /** Median of the chunk size that does best, of those that users may set. */
    private double best(String name, Object... values) {
        return figures.all(name, values)
                .mapToDouble(figure -> figure.summary().median())
                .max()
                .orElse(Double.NaN);
    }

    private static Target share(String work, double must, double aim, Optional<Figure> figure) {
        return more(
                work,
                must,
                aim,
                "% of the bus",
                100 * figure.map(Figure::share).orElse(Double.NaN));
    }

    private static Target more(String work, double must, double aim, String unit, double reached) {
        return new Target(work, must, aim, unit, false, reached);
    }

    private Target resident(String work, double must, double aim, int bits, int buildRows) {
        Optional<Figure> figure =
                figures.first(
                        "resident-join",
                        "word_bits",
                        bits,
                        "build_rows",
                        buildRows,
                        "copies",
                        1,
                        "hit_percent",
                        100,
                        "zipf",
                        0,
                        "keys",
                        "dense");
        return more(
                work,
                must,
                aim,
                "G tuples/s",
                figure.map(f -> f.summary().median()).orElse(Double.NaN));
    }

    /** The chunk size that does best, of those that users may set. */
    private Optional<Figure> bestRing(int resultBytes) {
        return figures.all(
                        "ring-probe",
                        "tuple_bytes",
                        16,
                        "matches",
                        1,
                        "result_bytes",
                        resultBytes,
                        "build_rows",
                        1 << 27)
                .max((a, b) -> Double.compare(a.share(), b.share()));
    }

    private double starRatio() {
        return figures.median("ring-star-join", "dimensions", 4, "result_bytes", 0)
                / figures.median("ring-star-join", "dimensions", 1, "result_bytes", 0);
    }

    private double skew(String grid, double zipf) {
        return 100
                * figures.median("ring-skew", "grid", grid, "zipf", zipf)
                / figures.median("ring-skew", "grid", grid, "zipf", 0.0);
    }

    private double overStatic(String grid) {
        return figures.median("ring-skew", "grid", grid, "zipf", 1.5)
                / figures.median("ring-skew", "grid", "static", "zipf", 1.5);
    }

    /**
     * Seconds of the blocking join over those of the pipelined one with so many bytes in a fact.
     */
    double blockingRatio(int bytesIn) {
        return figures.all("blocking-join")
                .filter(f -> f.number("probe_rows") == 4e9)
                .mapToDouble(f -> f.summary().median())
                .map(
                        blocking ->
                                blocking
                                        / figures.median(
                                                "pipelined-join",
                                                "probe_rows",
                                                4_000_000_000L,
                                                "bytes_in",
                                                bytesIn))
                .findFirst()
                .orElse(Double.NaN);
    }
}
