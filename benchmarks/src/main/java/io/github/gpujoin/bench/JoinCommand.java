// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.bench;

import io.github.gpujoin.benchmarks.join.Contender;
import io.github.gpujoin.benchmarks.join.ContenderResult;
import io.github.gpujoin.benchmarks.join.JsonReport;
import io.github.gpujoin.benchmarks.join.Machine;
import io.github.gpujoin.benchmarks.join.Rounds;
import io.github.gpujoin.benchmarks.join.TextReport;
import io.github.gpujoin.benchmarks.workload.KeyDomain;
import io.github.gpujoin.benchmarks.workload.Tuples;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import org.apache.flink.runtime.util.EnvironmentInformation;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Joins the same tuples with every contender and compares rates and answers. */
@Command(
        name = "join",
        description = {
            "Joins the same tuples with every contender, in rounds that take turns, and compares.",
            "A tuple is an INT64 key and an INT64 payload. Every probe tuple has one match.",
            "ours-engine and duckdb: probe rows over the time of build and probe together.",
            "Flink contenders: probe rows over the time from the first leaving its source, with"
                    + " the build side loaded, to the last result; slow ones join fewer rows."
        },
        mixinStandardHelpOptions = true,
        showDefaultValues = true)
final class JoinCommand implements Callable<Integer> {

    @Spec private CommandSpec spec;

    @Option(names = "--build-rows", description = "Rows with unique keys.")
    private int buildRows = 1_000_000;

    @Option(names = "--probe-rows", description = "Rows with uniform foreign keys.")
    private long probeRows = 50_000_000;

    @Option(names = "--threads", description = "Threads, or slots of the embedded cluster.")
    private int threads = 2;

    @Mixin private MeasurementOptions measurement = new MeasurementOptions(5);

    @Option(names = "--only", split = ",", description = "Names of contenders; all by default.")
    private List<String> only = new ArrayList<>();

    @Option(
            names = "--keys",
            description = {
                "${COMPLETION-CANDIDATES}: 0 to n - 1, or spread over 64 bits.",
                "DuckDB joins dense keys by direct address, without a hash table."
            })
    private KeyDomain keys = KeyDomain.DENSE;

    @Option(
            names = "--key-groups",
            split = ",",
            description = {
                "Maximum parallelism of ours-flink-partitioned and ours-flink-partitioned-pojo,",
                "each of which joins once for each number; they are left out without any."
            })
    private List<Integer> keyGroups = new ArrayList<>();

    @Option(names = "--seed", description = "Seed of the tuples.")
    private long seed = 42;

    @Override
    public Integer call() throws Exception {
        check();
        PrintWriter out = spec.commandLine().getOut();
        PrintWriter err = spec.commandLine().getErr();
        Tuples tuples = Tuples.generate(buildRows, probeRows, keys, seed);
        List<ContenderResult> results = measure(tuples, err);
        TextReport report = new TextReport(results);
        out.printf(
                "%d build rows, %s keys, %d threads, %d rounds; rates in M tuples/s%n%n",
                buildRows, keys, threads, measurement.rounds());
        out.println(report.table());
        out.print(report.details());
        out.print(report.resultLines());
        out.flush();
        if (measurement.json() != null) {
            new JsonReport(Machine.here(), versions(), Bench.typed(spec), results)
                    .write(measurement.json());
        }
        err.print(report.disagreements());
        err.flush();
        return report.disagreements().isEmpty() ? 0 : 1;
    }

    private List<ContenderResult> measure(Tuples tuples, PrintWriter err) throws Exception {
        Deque<Contender> opened = new ArrayDeque<>();
        try {
            for (Contenders.Maker maker : Contenders.makers(only, keyGroups)) {
                opened.add(maker.make(tuples, threads));
            }
            return new Rounds(List.copyOf(opened), err::println).run(measurement.rounds());
        } finally {
            while (!opened.isEmpty()) {
                opened.removeLast().close();
            }
        }
    }

    private void check() {
        requirePositive("--build-rows", buildRows);
        requirePositive("--probe-rows", probeRows);
        requirePositive("--threads", threads);
        keyGroups.forEach(groups -> requirePositive("--key-groups", groups));
        Set<String> unknown = new HashSet<>(only);
        unknown.removeAll(Contenders.names());
        if (!unknown.isEmpty()) {
            throw new ParameterException(
                    spec.commandLine(),
                    "--only takes names of contenders: unknown="
                            + unknown
                            + ", contenders="
                            + Contenders.names());
        }
    }

    private void requirePositive(String option, long value) {
        if (value < 1) {
            throw new ParameterException(
                    spec.commandLine(), "the number must be positive: " + option + "=" + value);
        }
    }

    private static Map<String, String> versions() throws SQLException {
        try (Connection duckDb = DriverManager.getConnection("jdbc:duckdb:")) {
            return Map.of(
                    "flink", EnvironmentInformation.getVersion(),
                    "duckdb", duckDb.getMetaData().getDatabaseProductVersion(),
                    "java", System.getProperty("java.runtime.version"));
        }
    }
}
