// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.bench;

import io.github.gpujoin.benchmarks.flink.PacedJoin;
import io.github.gpujoin.benchmarks.join.Observations;
import io.github.gpujoin.benchmarks.join.OutputFile;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** How long a fact waits for its result under load. */
@Command(
        name = "latency",
        description = {
            "Measures the time from a fact to its result, at shares of the highest rate.",
            "The highest rate is measured first, by the same job without a pace. Latency counts from"
                    + " when a fact was due by the rate alone, so that waiting behind late ones is"
                    + " part of it, and each fact is taken for as old as the first of its chunk."
                    + " Every result is checked."
        },
        mixinStandardHelpOptions = true,
        showDefaultValues = true)
final class LatencyCommand implements Callable<Integer> {

    private static final long ROUGH_CHUNKS = 2_000;

    @Spec private CommandSpec spec;

    @Option(names = "--build-rows", description = "Rows with unique keys.")
    private int buildRows = 1_000_000;

    @Option(
            names = "--chunk-rows",
            split = ",",
            description = "Facts of a chunk, of 16 bytes each.")
    private List<Integer> chunkRows = List.of(1024, 8192);

    @Option(names = "--percent", split = ",", description = "Of the highest rate.")
    private List<Integer> percents = List.of(10, 50, 90);

    @Option(names = "--seconds", description = "For each figure, the first fifth to warm up.")
    private int seconds = 15;

    @Option(names = "--threads", description = "Slots of the embedded cluster.")
    private int threads = 2;

    @Option(names = "--json", converter = OutputFile.class, description = "File for all figures.")
    private @Nullable Path json;

    @Override
    public Integer call() throws Exception {
        if (buildRows < 1
                || seconds < 1
                || threads < 1
                || !chunkRows.stream().allMatch(rows -> rows >= 1 && rows <= 1 << 16)
                || !percents.stream().allMatch(percent -> percent >= 1 && percent <= 100)) {
            throw new ParameterException(
                    spec.commandLine(),
                    ("A number is not positive, a chunk exceeds 65536 rows, or a share exceeds"
                                    + " 100: buildRows=%d, seconds=%d, threads=%d, chunkRows=%s,"
                                    + " percents=%s")
                            .formatted(buildRows, seconds, threads, chunkRows, percents));
        }
        Observations observations =
                new Observations(Bench.typed(spec), spec.commandLine().getOut());
        for (int rows : chunkRows) {
            double highest = highestRate(rows);
            for (int percent : percents) {
                measure(observations, rows, percent, highest);
            }
        }
        if (json != null) {
            observations.write(json);
        }
        return 0;
    }

    /**
     * Of a run as long as the others; a short one, which warms up, says how many chunks that is.
     */
    private double highestRate(int rows) throws Exception {
        double rough = unpaced(rows, ROUGH_CHUNKS);
        return unpaced(rows, chunks(rough, rows));
    }

    private double unpaced(int rows, long chunks) throws Exception {
        return new PacedJoin(new PacedJoin.Facts(buildRows, rows, chunks, threads, 0))
                .run()
                .rowsPerSecond();
    }

    private long chunks(double rowsPerSecond, int rows) {
        return Math.max(1, (long) (rowsPerSecond * seconds / rows / threads));
    }

    private void measure(Observations observations, int rows, int percent, double highest)
            throws Exception {
        long rate = Math.max(1, (long) (highest * percent / 100));
        PacedJoin.Figures figures =
                new PacedJoin(
                                new PacedJoin.Facts(
                                        buildRows, rows, chunks(rate, rows), threads, rate))
                        .run();
        Histogram latency = figures.latencyNs();
        observations.add(
                "latency",
                "chunk_rows",
                rows,
                "percent_of_highest",
                percent,
                "rows_per_second",
                figures.rowsPerSecond(),
                "asked_rows_per_second",
                (double) rate,
                "p50_us",
                latency.getValueAtPercentile(50) / 1e3,
                "p99_us",
                latency.getValueAtPercentile(99) / 1e3,
                "p999_us",
                latency.getValueAtPercentile(99.9) / 1e3,
                "max_us",
                latency.getMaxValue() / 1e3);
    }
}
