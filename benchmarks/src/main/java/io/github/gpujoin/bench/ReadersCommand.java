// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.bench;

import io.github.gpujoin.benchmarks.join.Observations;
import io.github.gpujoin.benchmarks.join.Summary;
import io.github.gpujoin.benchmarks.readers.ParquetContender;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Measures readers of Parquet. */
@Command(
        name = "readers",
        description = {
            "Reads INT32 columns of a Parquet file with one thread, and adds up all values: ours,"
                    + " Flink's vectorised reader, parquet-java by columns and by records, DuckDB.",
            "Processor time of the thread; the least of all rounds but the first."
        },
        mixinStandardHelpOptions = true,
        showDefaultValues = true)
final class ReadersCommand implements Callable<Integer> {

    @Spec private CommandSpec spec;

    @Option(
            names = "--file",
            required = true,
            description = "Parquet file, such as lineorder.parquet of bin/bench ssb.")
    private Path file;

    @Option(names = "--columns", split = ",", description = "Columns of type INT32 without nulls.")
    private List<String> columns =
            List.of("lo_orderdate", "lo_partkey", "lo_suppkey", "lo_revenue");

    @Mixin private MeasurementOptions measurement = new MeasurementOptions(5);

    @Override
    public Integer call() throws Exception {
        if (!Files.isRegularFile(file)) {
            throw new ParameterException(spec.commandLine(), "--file is no file: " + file);
        }
        Map<ParquetContender, List<Double>> cpuNs = new EnumMap<>(ParquetContender.class);
        Set<Long> sums = new HashSet<>();
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        for (int round = 0; round <= measurement.rounds(); round++) {
            for (ParquetContender contender : ParquetContender.values()) {
                long startNs = threads.getCurrentThreadCpuTime();
                sums.add(contender.sum(file, columns));
                double spentNs = threads.getCurrentThreadCpuTime() - startNs;
                if (round > 0) {
                    cpuNs.computeIfAbsent(contender, any -> new ArrayList<>()).add(spentNs);
                }
            }
        }
        long rows = rows();
        Observations observations =
                new Observations(Bench.typed(spec), spec.commandLine().getOut());
        cpuNs.forEach(
                (contender, all) ->
                        observations.add(
                                "readers",
                                "contender",
                                contender.label(),
                                "columns",
                                columns.size(),
                                "cpu_ns_per_row",
                                Summary.of(all).min() / rows,
                                "rows_per_cpu_second",
                                rows * 1e9 / Summary.of(all).min(),
                                "answer",
                                sums.size() == 1 ? "right" : "wrong"));
        if (measurement.json() != null) {
            observations.write(measurement.json());
        }
        return sums.size() == 1 ? 0 : 1;
    }

    private long rows() throws Exception {
        try (var db = DriverManager.getConnection("jdbc:duckdb:");
                var sql = db.createStatement();
                var row = sql.executeQuery("SELECT count(*) FROM read_parquet('" + file + "')")) {
            row.next();
            return row.getLong(1);
        }
    }
}
