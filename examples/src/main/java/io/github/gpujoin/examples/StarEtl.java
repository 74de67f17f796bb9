// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples;

import io.github.gpujoin.examples.data.Benchmark;
import io.github.gpujoin.examples.data.DataFiles;
import io.github.gpujoin.examples.files.TableFiles;
import io.github.gpujoin.examples.files.TableFormat;
import io.github.gpujoin.examples.query.Queries;
import io.github.gpujoin.examples.query.Query;
import io.github.gpujoin.examples.query.QueryResult;
import io.github.gpujoin.examples.query.QueryRunner;
import io.github.gpujoin.examples.query.QueryTables;
import io.github.gpujoin.examples.run.Cli;
import io.github.gpujoin.examples.run.Cli.UserError;
import io.github.gpujoin.examples.run.JobCluster;
import io.github.gpujoin.examples.run.JobOptions;
import io.github.gpujoin.examples.tbl.TblTable;
import io.github.gpujoin.flink.api.StarJoin;
import java.io.IOException;
import java.io.PrintWriter;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Runs queries of the star schema benchmark or of TPC-H as streaming star joins.
 *
 * <p>The input is {@code .tbl} files, or CSV, Avro, Parquet or Arrow files converted from them.
 * Missing files are generated. The command runs on a cluster inside this process, or on the cluster
 * that {@code flink run} submits it to.
 */
@Command(
        name = "star-etl",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = "Runs star schema queries as streaming Flink jobs.")
public final class StarEtl implements Callable<Integer> {

    private static final int SHOWN_ROWS = 10;
    private static final BigDecimal DEFAULT_SCALE_FACTOR = new BigDecimal("0.1");

    @Spec private CommandSpec command;

    @Option(
            names = "--data",
            paramLabel = "DIR",
            description =
                    "directory of the .tbl files; default: data/ssb-sfSF, generated on first use."
                            + " With --scale-factor, missing files are generated here as well")
    private @Nullable Path data;

    @Option(
            names = "--scale-factor",
            paramLabel = "SF",
            description = "scale factor of generated data, above 0; default: 0.1")
    private @Nullable BigDecimal scaleFactor;

    @Option(
            names = "--format",
            paramLabel = "FORMAT",
            description =
                    "format of the input files: csv, avro, parquet or arrow; default: the .tbl files."
                            + " Missing files are converted from the .tbl files of the same directory."
                            + " A cluster needs Flink's table runtime and format jars")
    private @Nullable TableFormat format;

    @Option(
            names = "--query",
            paramLabel = "QUERY",
            defaultValue = Queries.ALL_OF_SSB,
            description = "1.1 to 4.3, tpch-3, tpch-4, tpch-5, or all (1.1 to 4.3, the default)")
    private String queryName;

    @Option(
            names = "--out",
            paramLabel = "DIR",
            description = "directory of the result files (CSV): q2.1.csv and so on")
    private @Nullable Path out;

    @Option(
            names = "--explain",
            description = "prints the plan of each query and its reasons, without running any")
    private boolean explain;

    @Mixin private JobOptions jobOptions;

    private PrintWriter console;

    public static void main(String[] arguments) {
        int exitCode = Cli.run(new StarEtl(), arguments);
        if (exitCode != 0) {
            System.exit(exitCode);
        }
    }

    @Override
    public Integer call() throws Exception {
        console = command.commandLine().getOut();
        List<Query> queries = queries();
        Configuration options = jobOptions.configuration();
        if (scaleFactor != null && scaleFactor.signum() <= 0) {
            throw invalid("Invalid --scale-factor: " + scaleFactor + ". Use a number above 0.");
        }
        Path directory = provideData(queries.get(0).benchmark());
        if (explain) {
            explain(queries, options, directory);
            return 0;
        }
        prepareOut();
        List<QueryResult> results = new ArrayList<>();
        try (JobCluster cluster = JobCluster.open(jobOptions.slots(), options)) {
            QueryRunner runner = new QueryRunner(cluster.env(options), directory, format, console);
            for (Query query : queries) {
                QueryResult result = runner.run(query);
                report(result);
                results.add(result);
            }
        }
        summarize(results, directory);
        console.flush();
        return 0;
    }

    private void explain(List<Query> queries, Configuration options, Path directory) {
        for (Query query : queries) {
            StreamExecutionEnvironment env =
                    StreamExecutionEnvironment.getExecutionEnvironment(options);
            query.plan().of(new QueryTables(env, directory, format, query.label()));
            StarJoin.explain(env).forEach(console::println);
        }
        console.flush();
    }

    private List<Query> queries() {
        try {
            return Queries.named(queryName);
        } catch (IllegalArgumentException e) {
            throw invalid(e.getMessage());
        }
    }

    /** Returns the directory of all tables; generates missing tables if the options allow it. */
    private Path provideData(Benchmark benchmark) throws IOException {
        BigDecimal size = scaleFactor == null ? DEFAULT_SCALE_FACTOR : scaleFactor;
        String name = benchmark.label() + "-sf" + size.stripTrailingZeros().toPlainString();
        Path directory = data != null ? data : Path.of("data", name);
        if (format == null) {
            provideTbl(benchmark, directory, size);
            return directory;
        }
        TableFiles files = new TableFiles(directory, format);
        List<TblTable> missing = files.missing(benchmark.tables());
        if (!missing.isEmpty()) {
            provideTbl(benchmark, directory, size);
        }
        for (TblTable table : missing) {
            files.make(table);
            console.println("  created " + files.file(table).getFileName());
            console.flush();
        }
        return directory;
    }

    private void provideTbl(Benchmark benchmark, Path directory, BigDecimal size)
            throws IOException {
        List<TblTable> missing = DataFiles.missing(benchmark, directory);
        if (missing.isEmpty()) {
            return;
        }
        boolean isEmpty = missing.size() == benchmark.tables().size();
        if (data != null && !(scaleFactor != null && isEmpty)) {
            throw new UserError(
                    "Table file missing: "
                            + directory.resolve(missing.get(0).fileName())
                            + ". Add the file, or use an empty directory with --scale-factor.");
        }
        console.println(
                "Generating " + benchmark + " data of scale factor " + size + " in " + directory);
        console.flush();
        DataFiles.makeMissing(
                benchmark,
                directory,
                size.doubleValue(),
                table -> {
                    console.println("  created " + table.fileName());
                    console.flush();
                });
    }

    private void prepareOut() {
        if (out == null) {
            return;
        }
        try {
            Files.createDirectories(out);
        } catch (IOException e) {
            throw new UserError(
                    "Cannot create the result directory: " + out + ". Choose another --out.");
        }
        if (!Files.isWritable(out)) {
            throw new UserError(
                    "The result directory is not writable: " + out + ". Choose another --out.");
        }
    }

    private void report(QueryResult result) throws IOException {
        String label = result.query().label();
        console.println();
        console.printf(
                "%s: %d rows in %.2f s, %,d fact rows, %,.0f fact rows/s%n",
                label,
                result.rows().size(),
                result.seconds(),
                result.factRows(),
                result.factRows() / result.seconds());
        result.print(console, SHOWN_ROWS);
        console.flush();
        if (out != null) {
            result.write(out.resolve(label + ".csv"));
        }
    }

    private void summarize(List<QueryResult> results, Path directory) {
        double seconds = results.stream().mapToDouble(QueryResult::seconds).sum();
        long rows = results.stream().mapToLong(QueryResult::factRows).sum();
        console.println();
        console.printf(
                "%d queries, %,d fact rows in %.2f s: %,.0f fact rows/s%n",
                results.size(), rows, seconds, rows / seconds);
        console.println();
        console.println("Next steps:");
        console.println("  data     " + directory);
        console.println(
                out == null
                        ? "  results  --out DIR writes each table to DIR/q2.1.csv and so on"
                        : "  results  " + out);
        console.println("  options  --help; try --query 2.1 --engine reference --state rocksdb");
        console.println("  docs     README.md, docs/architecture/README.md");
    }

    private ParameterException invalid(String message) {
        return new ParameterException(command.commandLine(), message);
    }
}
