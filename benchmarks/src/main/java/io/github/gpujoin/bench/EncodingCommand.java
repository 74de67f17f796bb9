// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.bench;

import io.github.gpujoin.benchmarks.encoding.EncodingBench;
import io.github.gpujoin.benchmarks.encoding.QueryBytes;
import io.github.gpujoin.benchmarks.encoding.TableBytes;
import io.github.gpujoin.benchmarks.join.ContenderResult;
import io.github.gpujoin.benchmarks.join.JsonReport;
import io.github.gpujoin.benchmarks.join.Machine;
import io.github.gpujoin.benchmarks.join.TextReport;
import io.github.gpujoin.examples.data.Benchmark;
import io.github.gpujoin.examples.data.DataFiles;
import io.github.gpujoin.examples.query.Queries;
import io.github.gpujoin.examples.query.Query;
import io.github.gpujoin.examples.tbl.TblTable;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Measures what encoded columns save, and what they cost a CPU engine that receives them. */
@Command(
        name = "encoding",
        description = {
            "Compares chunks with encoded columns with plain ones.",
            "plain-ROWS and encoded-ROWS check, decode and probe the same facts, received as bytes,"
                    + " against ROWS build rows. With --data, it also reports the bytes of every"
                    + " fixed-width column of the tables, and those of jobs of SSB queries: in"
                    + " Flink's channels, in rings and in the build log."
        },
        mixinStandardHelpOptions = true,
        showDefaultValues = true)
final class EncodingCommand implements Callable<Integer> {

    private static final int MAX_BUILD_ROWS = 1 << 26;
    private static final int MAX_THREADS = 1024;

    @Spec private CommandSpec spec;

    @Option(names = "--build-rows", split = ",", description = "Build sides.")
    private List<Integer> buildRows = List.of(1 << 16, 1 << 20, 1 << 22);

    @Option(names = "--probe-rows", description = "Facts of each run.")
    private long probeRows = 1 << 24;

    @Option(names = "--threads", description = "Threads that receive and probe.")
    private int threads = Math.min(2, Runtime.getRuntime().availableProcessors());

    @Mixin private MeasurementOptions measurement = new MeasurementOptions(3);

    @Option(
            names = "--data",
            description = "Folder for files of the tables; missing ones are generated.")
    private @Nullable Path data;

    @Option(names = "--tables", description = "Benchmark of the tables: ${COMPLETION-CANDIDATES}.")
    private Benchmark tables = Benchmark.SSB;

    @Option(names = "--scale-factor", description = "Scale factor of generated tables.")
    private double scaleFactor = 0.1;

    @Option(names = "--queries", split = ",", description = "SSB queries whose jobs are measured.")
    private List<String> queries = List.of("1.1", "2.1", "4.1");

    @Override
    public Integer call() throws Exception {
        check();
        PrintWriter out = spec.commandLine().getOut();
        PrintWriter err = spec.commandLine().getErr();
        if (data != null) {
            reportBytes(data, out, err);
            if (tables == Benchmark.SSB) {
                reportQueries(data, out, err);
            }
        }
        List<ContenderResult> results =
                EncodingBench.probe(
                        buildRows, probeRows, threads, measurement.rounds(), err::println);
        TextReport report = new TextReport(results);
        out.println(report.table());
        out.print(report.details());
        out.print(report.resultLines());
        out.flush();
        if (measurement.json() != null) {
            new JsonReport(
                            Machine.here(),
                            Map.of("java", System.getProperty("java.runtime.version")),
                            Bench.typed(spec),
                            results)
                    .write(measurement.json());
        }
        err.print(report.disagreements());
        err.flush();
        return report.disagreements().isEmpty() ? 0 : 1;
    }

    private void reportBytes(Path directory, PrintWriter out, PrintWriter err) throws IOException {
        DataFiles.makeMissing(
                tables,
                directory,
                scaleFactor,
                made -> err.println("generated " + made.fileName()));
        String format = "%-10s %-18s %10s %12s %12s %7s%n";
        out.printf(format, "table", "column", "rows", "plain", "encoded", "ratio");
        for (TblTable table : tables.tables()) {
            for (TableBytes bytes : TableBytes.of(table, directory)) {
                out.printf(
                        Locale.ROOT,
                        "%-10s %-18s %10d %12d %12d %7.2f%n",
                        bytes.table(),
                        bytes.column(),
                        bytes.rows(),
                        bytes.plain(),
                        bytes.encoded(),
                        bytes.ratio());
            }
        }
        out.println();
        out.flush();
    }

    private void reportQueries(Path directory, PrintWriter out, PrintWriter err) throws Exception {
        String format = "%-10s %-10s %12s %12s %7s%n";
        out.printf(format, "query", "way", "plain", "encoded", "ratio");
        for (String name : queries) {
            err.println("measuring the jobs of query " + name);
            err.flush();
            for (Query query : Queries.named(name)) {
                for (QueryBytes bytes : QueryBytes.of(query, directory, threads)) {
                    out.printf(
                            Locale.ROOT,
                            "%-10s %-10s %12d %12d %7.2f%n",
                            bytes.query(),
                            bytes.way(),
                            bytes.plain(),
                            bytes.encoded(),
                            bytes.ratio());
                }
            }
        }
        out.println();
        out.flush();
    }

    private void check() {
        for (int rows : buildRows) {
            require(
                    rows >= 1 && rows <= MAX_BUILD_ROWS,
                    "--build-rows must be 1 to " + MAX_BUILD_ROWS + ": " + rows);
        }
        require(probeRows >= 1, "--probe-rows must be at least 1: " + probeRows);
        require(
                threads >= 1 && threads <= MAX_THREADS,
                "--threads must be 1 to " + MAX_THREADS + ": " + threads);
        List<String> known = Queries.of(Benchmark.SSB).stream().map(Query::name).toList();
        for (String name : queries) {
            require(known.contains(name), "--queries must be among " + known + ": " + name);
        }
        require(scaleFactor > 0, "--scale-factor must be positive: " + scaleFactor);
    }

    private void require(boolean holds, String message) {
        if (!holds) {
            throw new ParameterException(spec.commandLine(), message);
        }
    }
}
