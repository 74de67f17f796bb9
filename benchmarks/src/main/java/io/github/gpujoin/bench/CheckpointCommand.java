// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.bench;

import io.github.gpujoin.benchmarks.join.Observations;
import io.github.gpujoin.benchmarks.join.OutputFile;
import io.github.gpujoin.benchmarks.join.Summary;
import io.github.gpujoin.benchmarks.workload.JoinAnswer;
import io.github.gpujoin.benchmarks.workload.KeyDomain;
import io.github.gpujoin.benchmarks.workload.TupleSchemas;
import io.github.gpujoin.benchmarks.workload.Tuples;
import io.github.gpujoin.systemtests.soak.CheckpointedJoin;
import io.github.gpujoin.systemtests.soak.CheckpointedJoin.Checkpoint;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.apache.flink.util.FileUtils;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** What checkpoints cost, and how fast a build side comes back. */
@Command(
        name = "checkpoint",
        description = {
            "Measures what checkpoints cost, with state in RocksDB and incremental checkpoints.",
            "rate: result rows of an endless join with checkpoints at an interval, against none;"
                    + " jobs of both kinds take turns.",
            "growth: bytes that a checkpoint writes for a portion of a partitioned build side,"
                    + " and all of them for each byte of it.",
            "restore: build bytes over the time from the submission of a job that restores them"
                    + " to its first answers, deployment and tables included. All its answers are"
                    + " checked."
        },
        mixinStandardHelpOptions = true,
        showDefaultValues = true)
final class CheckpointCommand implements Callable<Integer> {

    private static final int RATE_BUILD_ROWS = 1_000_000;
    private static final long SEED = 42;

    @Spec private CommandSpec spec;

    @Option(
            names = "--rounds",
            description = "Pairs of jobs, with and without checkpoints; 0 for none.")
    private int rounds = 3;

    @Option(names = "--interval-seconds", description = "Between checkpoints.")
    private int intervalSeconds = 10;

    @Option(
            names = "--round-seconds",
            description =
                    "How long each job is measured; longer where no checkpoint has completed.")
    private int roundSeconds = 32;

    @Option(names = "--warm-up-seconds", description = "Before each of them.")
    private int warmUpSeconds = 5;

    @Option(
            names = "--build-mib",
            description = "Build side that grows and is restored; 0 for none.")
    private int buildMib = 2048;

    @Option(names = "--portions", description = "In which it grows.")
    private int portions = 8;

    @Option(names = "--threads", description = "Slots of the embedded cluster.")
    private int threads = 2;

    @Option(names = "-D", description = "A Flink option of the jobs: -D key=value.")
    private Map<String, String> options = new LinkedHashMap<>();

    @Option(names = "--folder", description = "For checkpoints; emptied at the end.")
    private Path folder = Path.of("benchmarks", "target", "checkpoints");

    @Option(names = "--json", converter = OutputFile.class, description = "File for all figures.")
    private @Nullable Path json;

    private Observations observations;

    private record Rate(double rowsPerSecond, double cpuNsPerRow, long checkpoints) {}

    @Override
    public Integer call() throws Exception {
        check();
        observations = new Observations(Bench.typed(spec), spec.commandLine().getOut());
        try {
            if (rounds > 0) {
                rate();
            }
            if (buildMib > 0) {
                growAndRestore();
            }
        } finally {
            FileUtils.deleteDirectory(folder.toFile());
        }
        if (json != null) {
            observations.write(json);
        }
        return 0;
    }

    private void check() {
        if (rounds < 0
                || intervalSeconds < 1
                || roundSeconds < intervalSeconds
                || warmUpSeconds < 0
                || buildMib < 0
                || portions < 1
                || threads < 1) {
            throw new ParameterException(
                    spec.commandLine(),
                    ("A number is negative, or a round is shorter than an interval: rounds=%d,"
                                    + " intervalSeconds=%d, roundSeconds=%d, warmUpSeconds=%d, buildMib=%d, portions=%d,"
                                    + " threads=%d")
                            .formatted(
                                    rounds,
                                    intervalSeconds,
                                    roundSeconds,
                                    warmUpSeconds,
                                    buildMib,
                                    portions,
                                    threads));
        }
    }

    private void rate() throws Exception {
        Tuples tuples =
                Tuples.generate(RATE_BUILD_ROWS, 4L * RATE_BUILD_ROWS, KeyDomain.DENSE, SEED);
        List<Double> rates = new ArrayList<>();
        List<Double> shares = new ArrayList<>();
        List<Double> cpuShares = new ArrayList<>();
        long checkpoints = 0;
        for (int round = 0; round < rounds; round++) {
            Duration interval = Duration.ofSeconds(intervalSeconds);
            // A process warms up: each of the two goes first as often as the other.
            Rate early = measure(tuples, round % 2 == 0 ? null : interval);
            Rate late = measure(tuples, round % 2 == 0 ? interval : null);
            Rate without = round % 2 == 0 ? early : late;
            Rate with = round % 2 == 0 ? late : early;
            rates.add(with.rowsPerSecond());
            shares.add(with.rowsPerSecond() / without.rowsPerSecond());
            cpuShares.add(without.cpuNsPerRow() / with.cpuNsPerRow());
            checkpoints += with.checkpoints();
        }
        observations.add(
                "checkpoint-rate",
                "interval_s",
                intervalSeconds,
                "checkpoints",
                checkpoints,
                "rows_per_second",
                Summary.of(rates).median(),
                "rate_share",
                Summary.of(shares).median(),
                "rate_share_min",
                Summary.of(shares).min(),
                "rate_share_max",
                Summary.of(shares).max(),
                "cpu_share",
                Summary.of(cpuShares).median());
    }

    private Rate measure(Tuples tuples, Duration interval) throws Exception {
        try (CheckpointedJoin join = CheckpointedJoin.endless(tuples, job("rate"), interval)) {
            join.awaitJoining();
            TimeUnit.SECONDS.sleep(warmUpSeconds);
            long checkpoints = join.completedCheckpoints();
            long rows = join.resultRows();
            long cpuNs = cpuNs();
            long startNs = System.nanoTime();
            TimeUnit.SECONDS.sleep(roundSeconds);
            if (interval != null) {
                join.awaitCheckpointAfter(checkpoints);
            }
            join.requireRunning();
            rows = join.resultRows() - rows;
            double seconds = (System.nanoTime() - startNs) / 1e9;
            checkpoints = join.completedCheckpoints() - checkpoints;
            return new Rate(rows / seconds, (double) (cpuNs() - cpuNs) / rows, checkpoints);
        }
    }

    private void growAndRestore() throws Exception {
        int rows = (int) (((long) buildMib << 20) / TupleSchemas.TUPLE_BYTES);
        Tuples tuples = Tuples.generate(rows, 1_000_000, KeyDomain.DENSE, SEED);
        Checkpoint last;
        try (CheckpointedJoin join = CheckpointedJoin.inPortions(tuples, job("growth"), portions)) {
            long buildBytes = CheckpointedJoin.buildBytes(tuples);
            long writtenBytes = 0;
            for (int portion = 0; portion < portions; portion++) {
                join.sendBuild(portion);
                writtenBytes += grown(buildBytes / portions, join.checkpoint());
            }
            join.awaitJoining();
            last = join.checkpoint();
            writtenBytes += grown(0, last);
            observations.add(
                    "checkpoint-growth-total",
                    "checkpoints",
                    portions + 1,
                    "build_bytes",
                    buildBytes,
                    "written_bytes",
                    writtenBytes,
                    "written_per_build_byte",
                    (double) writtenBytes / buildBytes);
        }
        restore(tuples, last);
    }

    /** Reports a checkpoint, and returns the bytes that it wrote. */
    private long grown(long buildBytes, Checkpoint checkpoint) {
        observations.add(
                "checkpoint-growth",
                "new_build_bytes",
                buildBytes,
                "written_bytes",
                checkpoint.newBytes(),
                "state_bytes",
                checkpoint.allBytes());
        return checkpoint.newBytes();
    }

    private void restore(Tuples tuples, Checkpoint from) throws Exception {
        long buildBytes = CheckpointedJoin.buildBytes(tuples);
        try (CheckpointedJoin join = CheckpointedJoin.restored(tuples, job("restored"), from)) {
            long startCpuNs = cpuNs();
            double seconds = join.awaitJoining() / 1e9;
            double cpuSeconds = (cpuNs() - startCpuNs) / 1e9;
            JoinAnswer expected = tuples.expected(tuples.probe().size());
            if (!join.answer().equals(expected)) {
                throw new IllegalStateException(
                        "The restored build side gives other results: expected=%s, answer=%s"
                                .formatted(expected, join.answer()));
            }
            observations.add(
                    "checkpoint-restore",
                    "build_bytes",
                    buildBytes,
                    "seconds",
                    seconds,
                    "cpu_seconds",
                    cpuSeconds,
                    "bytes_per_second",
                    buildBytes / seconds);
        }
    }

    /** What jobs have in common; checkpoints go to a new folder. */
    private CheckpointedJoin.Job job(String name) throws IOException {
        Path fresh = folder.toAbsolutePath().resolve(name);
        FileUtils.deleteDirectory(fresh.toFile());
        return new CheckpointedJoin.Job(threads, Files.createDirectories(fresh), options);
    }

    private static long cpuNs() {
        return ((com.sun.management.OperatingSystemMXBean)
                        ManagementFactory.getOperatingSystemMXBean())
                .getProcessCpuTime();
    }
}
