// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.bench;

import io.github.gpujoin.benchmarks.join.Contender;
import io.github.gpujoin.benchmarks.join.ContenderResult;
import io.github.gpujoin.benchmarks.join.Observations;
import io.github.gpujoin.benchmarks.join.Rounds;
import io.github.gpujoin.benchmarks.join.TextReport;
import io.github.gpujoin.benchmarks.local.BulkJoinContender;
import io.github.gpujoin.benchmarks.local.BulkJoinContender.Output;
import io.github.gpujoin.benchmarks.local.DuckDbContender;
import io.github.gpujoin.benchmarks.local.EngineContender;
import io.github.gpujoin.benchmarks.workload.KeyDomain;
import io.github.gpujoin.benchmarks.workload.Tuples;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Joins two bounded inputs in memory, beside DuckDB and the engine of streams. */
@Command(
        name = "bulk",
        description = {
            "Joins two bounded inputs in memory on the CPU, in rounds that take turns.",
            "A tuple is an INT64 key and an INT64 payload; every probe tuple has one match.",
            "output=rows: chunks of both payloads, which are then added up; output=sums: the join"
                    + " adds up itself.",
            "Rates are of probe rows over the time from the first row of either side to the answer."
        },
        mixinStandardHelpOptions = true,
        showDefaultValues = true)
final class BulkCommand implements Callable<Integer> {

    @Spec private CommandSpec spec;

    @Option(names = "--build-rows", description = "Rows with unique keys.")
    private int buildRows = 10_000_000;

    @Option(names = "--probe-rows", description = "Rows with uniform foreign keys.")
    private long probeRows = 40_000_000;

    @Option(names = "--threads", description = "Threads of each contender.")
    private int threads = 2;

    @Option(names = "--keys", description = "${COMPLETION-CANDIDATES}, as of bin/bench join.")
    private KeyDomain keys = KeyDomain.SPARSE;

    @Option(names = "--seed", description = "Seed of the tuples.")
    private long seed = 42;

    @Mixin private MeasurementOptions measurement = new MeasurementOptions(5);

    /** A contender and what it does, for the lines of results. */
    private record Entrant(String algorithm, Output output, Contender contender) {}

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
        Tuples tuples = Tuples.generate(buildRows, probeRows, keys, seed);
        List<Entrant> entrants = new ArrayList<>();
        List<ContenderResult> results;
        try {
            open(tuples, entrants);
            results =
                    new Rounds(entrants.stream().map(Entrant::contender).toList(), err::println)
                            .run(measurement.rounds());
        } finally {
            for (Entrant entrant : entrants) {
                entrant.contender.close();
            }
        }
        Observations observations = new Observations(Bench.typed(spec), out);
        report(entrants, results, observations);
        TextReport text = new TextReport(results);
        out.print(text.details());
        out.flush();
        if (measurement.json() != null) {
            observations.write(measurement.json());
        }
        err.print(text.disagreements());
        err.flush();
        return text.disagreements().isEmpty() ? 0 : 1;
    }

    private void open(Tuples tuples, List<Entrant> entrants) throws Exception {
        for (Output output : Output.values()) {
            Contender contender = new BulkJoinContender(tuples, threads, output);
            entrants.add(new Entrant(BulkJoinContender.CPU_RADIX, output, contender));
        }
        Contender engine = new EngineContender(tuples, threads);
        entrants.add(new Entrant(engine.name(), Output.SUMS, engine));
        Contender duckDb = new DuckDbContender(tuples, threads);
        entrants.add(new Entrant(duckDb.name(), Output.SUMS, duckDb));
    }

    private void report(
            List<Entrant> entrants, List<ContenderResult> results, Observations observations) {
        double duckDb = results.get(results.size() - 1).tuplesPerSecond().median();
        for (int i = 0; i < results.size(); i++) {
            ContenderResult result = results.get(i);
            observations.add(
                    "bulk-join",
                    "algorithm",
                    entrants.get(i).algorithm,
                    "output",
                    entrants.get(i).output.name().toLowerCase(Locale.ROOT),
                    "build_rows",
                    buildRows,
                    "probe_rows",
                    probeRows,
                    "keys",
                    keys.name().toLowerCase(Locale.ROOT),
                    "threads",
                    threads,
                    "tuples_per_second",
                    result.tuplesPerSecond().median(),
                    "x_duckdb",
                    result.tuplesPerSecond().median() / duckDb,
                    "answer",
                    result.isCorrect() ? "right" : "wrong");
        }
    }
}
