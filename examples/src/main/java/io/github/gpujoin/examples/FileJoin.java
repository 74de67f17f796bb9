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
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Joins two files of rows with the streaming join, inside this process. The result appears when it
 * is whole; its rows are in no particular order.
 */
@Command(
        name = FileJoin.NAME,
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Joins two files of rows with the streaming join: CSV (header line, RFC 4180 quotes,"
                    + " UTF-8), Avro containers and Parquet, by the ends of their names.",
            "Keys are 64-bit integers where all keys of both files are or read as such, else of the"
                    + " one type that both columns have, text in CSV; an empty unquoted field of CSV"
                    + " is null, and a null key matches nothing.",
            "Result columns: the probe file's, then, unless the kind is semi or anti, the build"
                    + " file's; a build column whose name is taken is called build.NAME, in Avro and"
                    + " Parquet build_NAME."
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
            description = "file whose rows are loaded into the join's table")
    private Path build;

    @Option(
            names = "--probe",
            paramLabel = "FILE",
            required = true,
            description = "file whose rows stream by")
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
                    "${COMPLETION-CANDIDATES}; the file that streams by is the left one;"
                            + " default: inner")
    private FileJoinJob.Kind kind;

    @Option(
            names = "--out",
            paramLabel = "FILE",
            description = "file for the result; not needed with --explain")
    private Path out;

    @Option(
            names = "--format",
            paramLabel = "FORMAT",
            description =
                    "${COMPLETION-CANDIDATES}: format of all three files, whatever their names end in")
    private FileFormat format;

    @Option(
            names = "--build-schema",
            paramLabel = "FILE",
            description =
                    "Avro schema (JSON) with which the build file is read, in place of its own")
    private Path buildSchema;

    @Option(
            names = "--probe-schema",
            paramLabel = "FILE",
            description = "the same for the probe file")
    private Path probeSchema;

    @Option(names = "--null-safe", description = "null keys match null keys (IS NOT DISTINCT FROM)")
    private boolean nullSafe;

    @Option(
            names = "--bad-records",
            paramLabel = "WHAT",
            defaultValue = FAIL,
            description =
                    "what becomes of a CSV line with too few or too many fields: fail (the default),"
                            + " skip, or the name of a file, with a dot or a slash in it, that says"
                            + " of each what is wrong")
    private String badRecords;

    @Option(
            names = "--explain",
            description = "says how the join would be run, and why so, and does not run it")
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
        Configuration options = jobOptions.configuration();
        RecordFile buildFile = RecordFile.open(build, format, buildKey, buildSchema);
        RecordFile probeFile = RecordFile.open(probe, format, probeKey, probeSchema);
        PrintWriter console = command.commandLine().getOut();
        FileJoinJob job =
                new FileJoinJob(
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
        checkOutputs();
        long startNs = System.nanoTime();
        JobExecutionResult end = run(job, options, console);
        console.printf(
                "%s: %,d bytes in %.2f s%n",
                out, Files.size(out), (System.nanoTime() - startNs) / 1e9);
        Long bad = end.getAccumulatorResult(FileJoinJob.BAD_ROWS);
        if (bad != null && bad > 0) {
            console.printf("%,d bad records were left out%n", bad);
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
            writeProblems(problems);
            result.commit();
            return end;
        }
    }

    private void writeProblems(Path problems) throws IOException {
        if (!namesProblems()) {
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

    private boolean namesProblems() {
        return !badRecords.equalsIgnoreCase(FAIL) && !badRecords.equalsIgnoreCase(SKIP);
    }

    /** A mistyped word would be taken for a file, and lines be left out that were to fail. */
    private void checkBadRecords() {
        if (namesProblems() && !badRecords.contains(".") && !badRecords.contains("/")) {
            throw new ParameterException(
                    command.commandLine(),
                    "--bad-records must be fail, skip or the name of a file with a dot or a slash"
                            + " in it: found="
                            + badRecords);
        }
    }

    /** What is written can be, and is no file that is read or written otherwise. */
    private void checkOutputs() throws IOException {
        if (out == null) {
            throw new ParameterException(
                    command.commandLine(), "--out FILE says where the result goes");
        }
        checkOutput("--out", out);
        if (namesProblems()) {
            Path problems = Path.of(badRecords);
            checkOutput("--bad-records", problems);
            if (place(problems).equals(place(out))) {
                throw new UserError(
                        "--bad-records must be another file than --out: file=" + problems);
            }
        }
    }

    private void checkOutput(String option, Path file) throws IOException {
        if (Files.isDirectory(file)) {
            throw new UserError(option + " must be a file, not a directory: file=" + file);
        }
        Path directory = file.toAbsolutePath().getParent();
        if (!Files.isDirectory(directory)) {
            throw new UserError("the directory of " + option + " does not exist: file=" + file);
        }
        if (!Files.isWritable(directory)) {
            throw new UserError(
                    "the directory of " + option + " cannot be written to: file=" + file);
        }
        for (Path input : new Path[] {build, probe, buildSchema, probeSchema}) {
            if (input != null && Files.exists(file) && Files.isSameFile(file, input)) {
                throw new UserError(option + " must be another file than the inputs: file=" + file);
            }
        }
    }

    /** One path for a file, whatever way its directory is named. */
    private static Path place(Path file) throws IOException {
        return file.toAbsolutePath().getParent().toRealPath().resolve(file.getFileName());
    }
}
