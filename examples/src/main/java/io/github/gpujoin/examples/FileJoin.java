// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples;

import io.github.gpujoin.examples.csv.CsvFormat.BadLines;
import io.github.gpujoin.examples.data.WholeFile;
import io.github.gpujoin.examples.files.FileFormat;
import io.github.gpujoin.examples.files.FileJoinJob;
import io.github.gpujoin.examples.files.RecordFile;
import io.github.gpujoin.examples.run.Cli;
import io.github.gpujoin.examples.run.Cli.UserError;
import io.github.gpujoin.examples.run.JobCluster;
import io.github.gpujoin.examples.run.JobOptions;
import io.github.gpujoin.examples.run.Progress;
import io.github.gpujoin.examples.run.Staging;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.flink.api.common.JobExecutionResult;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.IOUtils;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Joins two files of rows on a cluster inside this process, in batch mode unless checkpoints are
 * asked for. The result file appears under its name only when it is complete. Its rows are in no
 * particular order.
 */
@Command(
        name = FileJoin.NAME,
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Joins two files of rows. The extension of a file selects its"
                    + " format: CSV (header line, RFC 4180 quotes, UTF-8), Avro or Parquet.",
            "Keys that all parse as 64-bit integers are compared as integers. Other keys must have"
                    + " the same type in both files; in CSV they are text. An empty unquoted CSV field"
                    + " is null. A null key matches nothing unless --null-safe is set.",
            "The result holds the probe columns, then the build columns (not for semi and anti). A"
                    + " build column whose name is already used becomes build.NAME in CSV and"
                    + " build_NAME in Avro and Parquet."
        })
public final class FileJoin implements Callable<Integer> {

    static final String NAME = "gpu-join";

    private static final String FAIL = "fail";
    private static final String SKIP = "skip";

    @Spec private CommandSpec command;

    @Option(
            names = "--build",
            paramLabel = "FILE",
            required = true,
            description = "build file: its rows are loaded into the join's table")
    private Path build;

    @Option(
            names = "--probe",
            paramLabel = "FILE",
            required = true,
            description = "probe file: its rows stream through the join")
    private Path probe;

    @Option(
            names = "--build-key",
            paramLabel = "COL",
            required = true,
            description = "key column of the build file")
    private String buildKey;

    @Option(
            names = "--probe-key",
            paramLabel = "COL",
            required = true,
            description = "key column of the probe file")
    private String probeKey;

    @Option(
            names = "--kind",
            paramLabel = "KIND",
            defaultValue = "inner",
            description =
                    "join kind: ${COMPLETION-CANDIDATES}; the probe file is the left side;"
                            + " default: inner")
    private FileJoinJob.Kind kind;

    @Option(
            names = "--out",
            paramLabel = "FILE",
            description = "result file; not needed with --explain")
    private @Nullable Path out;

    @Option(
            names = "--format",
            paramLabel = "FORMAT",
            description =
                    "format of all three files, in place of their extensions: ${COMPLETION-CANDIDATES}")
    private @Nullable FileFormat format;

    @Option(
            names = "--build-schema",
            paramLabel = "FILE",
            description =
                    "Avro reader schema (JSON) of the build file; default: the schema in the file")
    private Path buildSchema;

    @Option(
            names = "--probe-schema",
            paramLabel = "FILE",
            description = "Avro reader schema (JSON) of the probe file")
    private Path probeSchema;

    @Option(names = "--null-safe", description = "null keys match null keys (IS NOT DISTINCT FROM)")
    private boolean nullSafe;

    @Option(
            names = "--bad-records",
            paramLabel = "WHAT",
            defaultValue = FAIL,
            description =
                    "how to treat a CSV line with too few or too many fields: fail (the default),"
                            + " skip, or the name of a file that lists every such line; the name must"
                            + " contain a dot or a slash")
    private String badRecords;

    @Option(
            names = "--explain",
            description = "prints the plan of the join and its reasons, without running it")
    private boolean explain;

    @Mixin private JobOptions jobOptions;

    public static void main(String[] arguments) {
        int exitCode = Cli.run(new FileJoin(), arguments);
        if (exitCode != 0) {
            System.exit(exitCode);
        }
    }

    @Override
    public Integer call() throws Exception {
        checkBadRecords();
        Configuration options = jobOptions.boundedConfiguration();
        RecordFile buildFile = RecordFile.open(build, format, buildKey, buildSchema);
        RecordFile probeFile = RecordFile.open(probe, format, probeKey, probeSchema);
        if (!explain) {
            checkOutputs();
        }
        PrintWriter console = command.commandLine().getOut();
        FileJoinJob job =
                FileJoinJob.of(
                        buildFile,
                        probeFile,
                        kind,
                        nullSafe,
                        format == null && out != null ? FileFormat.of(out) : format,
                        badRecords.equalsIgnoreCase(FAIL) || explain
                                ? BadLines.FAIL
                                : BadLines.MARK);
        if (explain) {
            console.println(
                    job.explain(StreamExecutionEnvironment.getExecutionEnvironment(options)));
            console.flush();
            return 0;
        }
        long startNs = System.nanoTime();
        JobExecutionResult end = run(job, options, console);
        console.printf(
                "%s: %,d bytes in %.2f s%n",
                out, Files.size(out), (System.nanoTime() - startNs) / 1e9);
        Long bad = end.getAccumulatorResult(FileJoinJob.BAD_ROWS);
        if (bad != null && bad > 0) {
            console.printf("Skipped %,d bad records%n", bad);
        }
        console.flush();
        return 0;
    }

    private JobExecutionResult run(FileJoinJob job, Configuration options, PrintWriter console)
            throws Exception {
        AtomicReference<JobCluster> running = new AtomicReference<>();
        try (WholeFile result = WholeFile.create(out);
                Staging parts = Staging.beside(out)) {
            // The cluster takes seconds to open, and the process may be stopped meanwhile.
            Thread cleanUp =
                    new Thread(() -> IOUtils.closeAllQuietly(running.get(), parts, result));
            Runtime.getRuntime().addShutdownHook(cleanUp);
            JobExecutionResult end = run(job, options, console, running, parts, result);
            Runtime.getRuntime().removeShutdownHook(cleanUp);
            return end;
        }
    }

    private JobExecutionResult run(
            FileJoinJob job,
            Configuration options,
            PrintWriter console,
            AtomicReference<JobCluster> running,
            Staging parts,
            WholeFile result)
            throws Exception {
        try (JobCluster cluster = JobCluster.open(jobOptions.slots(), options)) {
            running.set(cluster);
            Path rows = Files.createDirectory(parts.directory().resolve("rows"));
            Path problems = Files.createDirectory(parts.directory().resolve("problems"));
            JobClient client = job.start(cluster.env(options), rows, problems);
            JobExecutionResult end;
            try (Progress progress = Progress.show(console, NAME, client, job.expectedRows())) {
                end = client.getJobExecutionResult().get();
            }
            job.concatenate(rows, result.draft());
            writeBadRecords(problems);
            result.commit();
            return end;
        }
    }

    private void writeBadRecords(Path problems) throws IOException {
        if (!isBadRecordsFile()) {
            return;
        }
        try (WholeFile file = WholeFile.create(Path.of(badRecords))) {
            try (OutputStream to = file.open()) {
                for (Path part : FileJoinJob.finishedIn(problems)) {
                    Files.copy(part, to);
                }
            }
            file.commit();
        }
    }

    private boolean isBadRecordsFile() {
        return !badRecords.equalsIgnoreCase(FAIL) && !badRecords.equalsIgnoreCase(SKIP);
    }

    /** Rejects a mistyped {@code fail}, which would otherwise name a file and skip bad lines. */
    private void checkBadRecords() {
        if (isBadRecordsFile() && !badRecords.contains(".") && !badRecords.contains("/")) {
            throw new ParameterException(
                    command.commandLine(),
                    "Invalid --bad-records: '"
                            + badRecords
                            + "'. Use fail, skip, or a file name that contains a dot or a slash.");
        }
    }

    /** Checks that each output is writable and is neither an input nor another output. */
    private void checkOutputs() throws IOException {
        if (out == null) {
            throw new ParameterException(
                    command.commandLine(), "Missing --out. Name the result file with --out FILE.");
        }
        checkOutput("--out", out);
        if (isBadRecordsFile()) {
            Path problems = Path.of(badRecords);
            checkOutput("--bad-records", problems);
            if (canonicalPath(problems).equals(canonicalPath(out))) {
                throw new UserError(
                        "--bad-records and --out name the same file: "
                                + problems
                                + ". Choose another file for one of them.");
            }
        }
    }

    private void checkOutput(String option, Path file) throws IOException {
        if (Files.isDirectory(file)) {
            throw new UserError(option + " is a directory: " + file + ". Name a file in it.");
        }
        Path directory = file.toAbsolutePath().getParent();
        if (!Files.isDirectory(directory)) {
            throw new UserError(
                    "The directory of "
                            + option
                            + " does not exist: "
                            + file
                            + ". Create it, or name another file.");
        }
        if (!Files.isWritable(directory)) {
            throw new UserError(
                    "The directory of "
                            + option
                            + " is not writable: "
                            + file
                            + ". Change its permissions, or name another file.");
        }
        for (Path input : new Path[] {build, probe, buildSchema, probeSchema}) {
            if (input != null && Files.exists(file) && Files.isSameFile(file, input)) {
                throw new UserError(
                        option + " names an input file: " + file + ". Choose another file.");
            }
        }
    }

    /** The canonical path of a file that may not exist yet: its directory with links resolved. */
    private static Path canonicalPath(Path file) throws IOException {
        return file.toAbsolutePath().getParent().toRealPath().resolve(file.getFileName());
    }
}
