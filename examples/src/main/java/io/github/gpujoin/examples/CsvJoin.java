package io.github.gpujoin.examples;

import io.github.gpujoin.examples.csv.CsvHeader;
import io.github.gpujoin.examples.csv.CsvJoinJob;
import io.github.gpujoin.examples.data.WholeFile;
import io.github.gpujoin.examples.run.Cli;
import io.github.gpujoin.examples.run.Cli.UserError;
import io.github.gpujoin.examples.run.JobCluster;
import io.github.gpujoin.examples.run.JobOptions;
import io.github.gpujoin.examples.run.Progress;
import io.github.gpujoin.examples.run.Staging;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
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
 * Joins two CSV files with the streaming join, inside this process. The result appears when it is
 * whole; its rows are in no particular order.
 */
@Command(
        name = CsvJoin.NAME,
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Joins two CSV files (header line, RFC 4180 quotes, UTF-8) with the streaming join.",
            "Keys are 64-bit integers where all keys of both files read as such, else text; an empty"
                    + " unquoted field is null, and a null key matches nothing.",
            "Result columns: the probe file's, then, unless the kind is semi or anti, the build"
                    + " file's; a build column whose name is taken is called build.NAME."
        })
public final class CsvJoin implements Callable<Integer> {

    static final String NAME = "gpu-join";

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
    private CsvJoinJob.Kind kind;

    @Option(
            names = "--out",
            paramLabel = "FILE",
            description = "file for the result; not needed with --explain")
    private Path out;

    @Option(
            names = "--explain",
            description = "says how the join would be run, and why so, and does not run it")
    private boolean explain;

    @Mixin private JobOptions jobOptions;

    public static void main(String[] arguments) {
        int exitCode = Cli.run(new CsvJoin(), arguments);
        if (exitCode != 0) {
            System.exit(exitCode);
        }
    }

    @Override
    public Integer call() throws Exception {
        Configuration options = jobOptions.configuration();
        CsvHeader buildHeader = CsvHeader.read(build, buildKey);
        CsvHeader probeHeader = CsvHeader.read(probe, probeKey);
        PrintWriter console = command.commandLine().getOut();
        CsvJoinJob job = new CsvJoinJob(buildHeader, probeHeader, kind);
        if (explain) {
            console.println(
                    job.explain(StreamExecutionEnvironment.getExecutionEnvironment(options)));
            console.flush();
            return 0;
        }
        checkOut();
        long startNs = System.nanoTime();
        try (WholeFile result = WholeFile.create(out);
                Staging parts = Staging.beside(out);
                JobCluster cluster = JobCluster.open(jobOptions.slots(), options)) {
            Thread cleanUp = new Thread(() -> IOUtils.closeAllQuietly(cluster, parts, result));
            Runtime.getRuntime().addShutdownHook(cleanUp);
            JobClient client = job.start(cluster.env(options), parts.directory());
            try (Progress progress = Progress.show(console, NAME, client, job.expectedRows())) {
                client.getJobExecutionResult().get();
            }
            try (OutputStream to = new BufferedOutputStream(result.open(), 1 << 16)) {
                job.concatenate(parts.directory(), to);
            }
            result.commit();
            Runtime.getRuntime().removeShutdownHook(cleanUp);
        }
        console.printf(
                "%s: %,d bytes in %.2f s%n",
                out, Files.size(out), (System.nanoTime() - startNs) / 1e9);
        console.flush();
        return 0;
    }

    private void checkOut() throws IOException {
        if (out == null) {
            throw new ParameterException(
                    command.commandLine(), "--out FILE says where the result goes");
        }
        Path directory = out.toAbsolutePath().getParent();
        if (Files.isDirectory(out)) {
            throw new UserError("--out is a file, not a directory: out=" + out);
        }
        if (!Files.isDirectory(directory) || !Files.isWritable(directory)) {
            throw new UserError("the directory of --out can be written to: out=" + out);
        }
        for (Path input : new Path[] {build, probe}) {
            if (Files.exists(out) && Files.isSameFile(out, input)) {
                throw new UserError("--out is another file than the inputs: out=" + out);
            }
        }
    }
}
