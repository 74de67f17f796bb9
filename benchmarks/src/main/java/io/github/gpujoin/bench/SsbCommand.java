// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.bench;

import io.github.gpujoin.benchmarks.join.Observations;
import io.github.gpujoin.benchmarks.ssb.SsbContenders;
import io.github.gpujoin.benchmarks.ssb.SsbData;
import io.github.gpujoin.benchmarks.ssb.SsbFigure;
import io.github.gpujoin.benchmarks.ssb.SsbFiles;
import io.github.gpujoin.benchmarks.ssb.SsbRun;
import io.github.gpujoin.benchmarks.ssb.SsbTable;
import io.github.gpujoin.examples.query.Query;
import io.github.gpujoin.examples.run.JobCluster;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.apache.flink.configuration.Configuration;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Answers the queries of the star schema benchmark with every contender, and compares. */
@Command(
        name = "ssb",
        description = {
            "Answers the queries of the star schema benchmark from files, with every contender in"
                    + " one run on the same files, and compares answers and times.",
            "seconds: from the query's text or plan to the last row of the answer. The cluster"
                    + " runs before, and the files are in the page cache.",
            "startup_seconds: the same for tables of a few rows. Rates are without it."
        },
        mixinStandardHelpOptions = true,
        showDefaultValues = true)
final class SsbCommand implements Callable<Integer> {

    @Spec private CommandSpec spec;

    @Mixin private SsbOptions options;

    @Option(names = "--threads", description = "Threads of DuckDB, slots of Flink's cluster.")
    private int threads = 2;

    @Mixin private MeasurementOptions measurement = new MeasurementOptions(1);

    @Option(
            names = "--contender",
            split = ",",
            description =
                    "Of ours, ours-gpu, ours-cpu, ours-without-filters, duckdb, flink-batch,"
                            + " flink-streaming.")
    private List<String> contenders = SsbContenders.DEFAULT;

    private PrintWriter out;

    @Override
    public Integer call() throws Exception {
        check();
        SsbData data = options.data();
        SsbFiles files = data.files();
        out = spec.commandLine().getOut();
        Consumer<String> progress =
                line -> {
                    spec.commandLine().getErr().println(line);
                    spec.commandLine().getErr().flush();
                };
        data.make(progress);
        Observations observations = new Observations(Bench.typed(spec), out);
        List<SsbFigure> figures = new ArrayList<>();
        try (JobCluster cluster = JobCluster.open(threads, new Configuration());
                SsbContenders opened =
                        new SsbContenders(contenders, cluster, threads, files, this::print);
                SsbRun run = new SsbRun(opened, files, data.queries().get(0), progress)) {
            for (Query query : data.queries()) {
                List<SsbFigure> measured = run.run(query, measurement.rounds(), progress);
                measured.forEach(figure -> add(observations, files, figure));
                figures.addAll(measured);
            }
        }
        print("");
        print(new SsbTable(figures).text());
        addTotals(observations, files, figures);
        if (measurement.json() != null) {
            observations.write(measurement.json());
        }
        return figures.stream().allMatch(SsbFigure::isRight) ? 0 : 1;
    }

    private void print(String line) {
        out.println(line);
        out.flush();
    }

    private static void add(Observations observations, SsbFiles files, SsbFigure figure) {
        double rate = figure.rowsPerSecond();
        observations.add(
                "ssb",
                "format",
                files.formatName(),
                "contender",
                figure.contender(),
                "query",
                figure.query(),
                "seconds",
                figure.seconds(),
                "rows_per_second",
                Double.isInfinite(rate) ? "-" : rate,
                "answer",
                figure.isRight() ? "right" : "WRONG",
                "startup_seconds",
                figure.startupSeconds());
    }

    private static void addTotals(
            Observations observations, SsbFiles files, List<SsbFigure> figures) {
        for (SsbTable.Total total : new SsbTable(figures).totals()) {
            observations.add(
                    "ssb-total",
                    "format",
                    files.formatName(),
                    "contender",
                    total.contender(),
                    "queries",
                    total.queries(),
                    "seconds",
                    total.seconds(),
                    "seconds_without_startup",
                    total.workSeconds(),
                    "times_duckdb",
                    ratio(total.timesDuckDb()),
                    "times_duckdb_without_startup",
                    ratio(total.workTimesDuckDb()));
        }
    }

    private static Object ratio(double ratio) {
        return Double.isFinite(ratio) ? ratio : "-";
    }

    private void check() {
        require(threads >= 1 && threads <= 128, "--threads is not within 1 and 128: " + threads);
        for (String name : contenders) {
            require(
                    SsbContenders.NAMES.contains(name),
                    "Unknown --contender: %s. Use some of %s."
                            .formatted(name, SsbContenders.NAMES));
        }
    }

    private void require(boolean holds, String message) {
        if (!holds) {
            throw new ParameterException(spec.commandLine(), message);
        }
    }
}
