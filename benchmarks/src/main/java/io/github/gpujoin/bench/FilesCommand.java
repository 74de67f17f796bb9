// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.bench;

import io.github.gpujoin.benchmarks.files.DuckDbFileJoin;
import io.github.gpujoin.benchmarks.files.GpuJoinProcess;
import io.github.gpujoin.benchmarks.files.JoinFiles;
import io.github.gpujoin.benchmarks.join.ContenderResult;
import io.github.gpujoin.benchmarks.join.Observations;
import io.github.gpujoin.benchmarks.join.Rounds;
import io.github.gpujoin.benchmarks.join.TextReport;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Joins two Parquet files to a third with {@code gpu-join}, beside DuckDB. */
@Command(
        name = "files",
        description = {
            "Joins two Parquet files to a third with gpu-join, beside DuckDB.",
            "Each of the probe rows has one match. All columns of both files are in the result.",
            "seconds: of gpu-join from the start of its process to its end, of DuckDB without the"
                    + " start of a process. The files are in the page cache."
        },
        mixinStandardHelpOptions = true,
        showDefaultValues = true)
final class FilesCommand implements Callable<Integer> {

    /** Property with the path of bin/gpu-join. */
    private static final String SCRIPT = "gpujoin.command";

    @Spec private CommandSpec spec;

    @Option(names = "--build-rows", description = "Rows with unique keys.")
    private long buildRows = 10_000_000;

    @Option(names = "--probe-rows", description = "Rows with uniform foreign keys.")
    private long probeRows = 100_000_000;

    @Option(names = "--threads", description = "Threads of DuckDB, parallelism of gpu-join.")
    private int threads = 2;

    @Option(
            names = "--data",
            paramLabel = "DIR",
            description = "Directory of all files. Missing input files are generated.")
    private Path directory = Path.of("data", "file-join");

    @Mixin private MeasurementOptions measurement = new MeasurementOptions(3);

    @Override
    public Integer call() throws Exception {
        if (buildRows < 1 || probeRows < 1 || threads < 1) {
            throw new ParameterException(
                    spec.commandLine(),
                    "A number is not positive: --build-rows=%d, --probe-rows=%d, --threads=%d"
                            .formatted(buildRows, probeRows, threads));
        }
        PrintWriter out = spec.commandLine().getOut();
        PrintWriter err = spec.commandLine().getErr();
        JoinFiles files = new JoinFiles(directory.toAbsolutePath(), buildRows, probeRows, threads);
        List<ContenderResult> results =
                new Rounds(
                                List.of(
                                        new GpuJoinProcess(files, command()),
                                        new DuckDbFileJoin(files)),
                                err::println)
                        .run(measurement.rounds());
        Observations observations = new Observations(Bench.typed(spec), out);
        results.forEach(result -> add(observations, result, results));
        return measurement.report(results, observations, out, err);
    }

    private static List<String> command() {
        String script = System.getProperty(SCRIPT);
        return script == null ? GpuJoinProcess.thisClassPath() : List.of(script);
    }

    private void add(Observations observations, ContenderResult result, List<ContenderResult> all) {
        double duckDb =
                all.stream()
                        .filter(other -> other.name().equals(TextReport.DUCKDB))
                        .mapToDouble(other -> other.tuplesPerSecond().median())
                        .findFirst()
                        .orElseThrow();
        double rate = result.tuplesPerSecond().median();
        observations.add(
                "file-join",
                "contender",
                result.name(),
                "build_rows",
                buildRows,
                "probe_rows",
                probeRows,
                "threads",
                threads,
                "seconds",
                probeRows / rate,
                "min_seconds",
                probeRows / result.tuplesPerSecond().max(),
                "max_seconds",
                probeRows / result.tuplesPerSecond().min(),
                "x_duckdb",
                rate / duckDb,
                "answer",
                result.isCorrect() ? "right" : "wrong");
    }
}
