// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.bench;

import io.github.gpujoin.benchmarks.join.Contender;
import io.github.gpujoin.benchmarks.join.ContenderResult;
import io.github.gpujoin.benchmarks.join.Observations;
import io.github.gpujoin.benchmarks.join.Rounds;
import io.github.gpujoin.benchmarks.join.TextReport;
import io.github.gpujoin.benchmarks.local.BulkJoinContender;
import io.github.gpujoin.benchmarks.local.BulkQuery;
import io.github.gpujoin.benchmarks.local.DuckDbContender;
import io.github.gpujoin.benchmarks.local.EngineContender;
import io.github.gpujoin.benchmarks.workload.KeyDomain;
import io.github.gpujoin.benchmarks.workload.Tuples;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
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
            "query=rows: all pairs in chunks of both payloads, which are then added up (duckdb adds"
                    + " up itself); query=sums: sums of all pairs; query=semi: the sum of build rows"
                    + " that have a probe row.",
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
    private record Entrant(BulkQuery query, Contender contender) {}

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
        return measurement.report(results, observations, out, err);
    }

    private void open(Tuples tuples, List<Entrant> entrants) throws Exception {
        for (BulkQuery query : BulkQuery.values()) {
            entrants.add(new Entrant(query, new BulkJoinContender(tuples, threads, query)));
        }
        entrants.add(new Entrant(BulkQuery.SUMS, new EngineContender(tuples, threads)));
        for (BulkQuery query : List.of(BulkQuery.SUMS, BulkQuery.SEMI)) {
            entrants.add(new Entrant(query, new DuckDbContender(tuples, threads, query)));
        }
    }

    /** Returns the rate of DuckDB, which adds up if chunks are asked for. */
    private static double duckDb(
            BulkQuery query, List<Entrant> entrants, List<ContenderResult> results) {
        BulkQuery asked = query == BulkQuery.ROWS ? BulkQuery.SUMS : query;
        return IntStream.range(0, entrants.size())
                .filter(i -> entrants.get(i).query == asked)
                .filter(i -> results.get(i).name().equals(TextReport.DUCKDB))
                .mapToDouble(i -> results.get(i).tuplesPerSecond().median())
                .findFirst()
                .orElseThrow();
    }

    private void report(
            List<Entrant> entrants, List<ContenderResult> results, Observations observations) {
        for (int i = 0; i < results.size(); i++) {
            ContenderResult result = results.get(i);
            BulkQuery query = entrants.get(i).query;
            observations.add(
                    "bulk-join",
                    "algorithm",
                    result.name(),
                    "query",
                    query.name().toLowerCase(Locale.ROOT),
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
                    result.tuplesPerSecond().median() / duckDb(query, entrants, results),
                    "answer",
                    result.isCorrect() ? "right" : "wrong");
        }
    }
}
