// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.bench;

import io.github.gpujoin.benchmarks.join.Observations;
import io.github.gpujoin.benchmarks.join.OutputFile;
import io.github.gpujoin.systemtests.memory.ProcessCluster;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.apache.flink.core.execution.JobClient;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Samples the resident memory of a TaskManager. */
@Command(
        name = "memory",
        description = {
            "Samples the resident memory of a TaskManager of 1728 MiB, Flink's default, while two"
                    + " jobs join build sides that are larger than its managed memory.",
            "Fails if a job fails, gives wrong results or does not end in time, or if the process"
                    + " exceeds its size."
        },
        mixinStandardHelpOptions = true,
        showDefaultValues = true)
final class MemoryCommand implements Callable<Integer> {

    private static final int JOBS = 2;

    @Spec private CommandSpec spec;

    @Option(names = "--transport", split = ",", description = "One cluster for each.")
    private List<String> transports = List.of("flink", "shm");

    @Option(names = "--rows", description = "Rows of 1 KiB of the build side of each job.")
    private long rows = 500_000;

    @Option(names = "--seconds", description = "On each cluster; both jobs must end before.")
    private int seconds = 90;

    @Option(names = "--every-seconds", description = "Time between samples.")
    private int everySeconds = 5;

    @Option(names = "--json", converter = OutputFile.class, description = "File for all samples.")
    private @Nullable Path json;

    @Option(names = "--folder", description = "For configuration, logs and state of clusters.")
    private Path folder = Path.of("benchmarks", "target", "memory");

    @Override
    public Integer call() throws Exception {
        if (rows < 1 || everySeconds < 1 || seconds < everySeconds) {
            throw new ParameterException(
                    spec.commandLine(),
                    "No sample is taken: rows=%d, seconds=%d, everySeconds=%d."
                            .formatted(rows, seconds, everySeconds));
        }
        Observations observations =
                new Observations(Bench.typed(spec), spec.commandLine().getOut());
        long peakBytes = 0;
        for (String transport : transports) {
            peakBytes = Math.max(peakBytes, watch(transport, observations));
        }
        if (json != null) {
            observations.write(json);
        }
        if (peakBytes > (long) ProcessCluster.PROCESS_MIB << 20) {
            spec.commandLine()
                    .getErr()
                    .printf(
                            "The TaskManager exceeded its process size: peakMib=%d, sizeMib=%d%n",
                            peakBytes >> 20, ProcessCluster.PROCESS_MIB);
            return 1;
        }
        return 0;
    }

    /** Returns the largest sample. */
    private long watch(String transport, Observations observations) throws Exception {
        Path root = Path.of("").toAbsolutePath();
        long peakBytes = 0;
        try (ProcessCluster cluster = ProcessCluster.start(root, folder.toAbsolutePath())) {
            JobClient[] jobs = new JobClient[JOBS];
            for (int job = 0; job < JOBS; job++) {
                jobs[job] = cluster.submit(rows, transport);
            }
            for (int second = 0; second <= seconds; second += everySeconds) {
                long bytes = cluster.residentBytes();
                observations.add(
                        "taskmanager-memory",
                        "transport",
                        transport,
                        "seconds",
                        second,
                        "resident_bytes",
                        bytes);
                peakBytes = Math.max(peakBytes, bytes);
                TimeUnit.SECONDS.sleep(everySeconds);
            }
            for (JobClient job : jobs) {
                if (!job.getJobStatus().get().isTerminalState()) {
                    throw new IllegalStateException(
                            "A job did not end in time: seconds=%d. Raise --seconds."
                                    .formatted(seconds));
                }
                ProcessCluster.requireResults(job, rows);
            }
        }
        return peakBytes;
    }
}
