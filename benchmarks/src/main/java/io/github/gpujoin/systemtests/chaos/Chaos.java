// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.systemtests.chaos;

import io.github.gpujoin.examples.data.Benchmark;
import io.github.gpujoin.examples.data.DataFiles;
import io.github.gpujoin.examples.run.Cli;
import io.github.gpujoin.examples.run.Failures;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.MalformedURLException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.DeploymentOptions;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.FileUtils;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Command line that runs the star ETL under injected faults and compares its rows with DuckDB's.
 */
@Command(
        name = "chaos",
        mixinStandardHelpOptions = true,
        showDefaultValues = true,
        description = {
            "Runs the star ETL over and over on a cluster of processes, with RocksDB, incremental"
                    + " checkpoints and a transactional file sink, while TaskManagers and their"
                    + " connections to the JobManager are killed, paused and slowed.",
            "After each run its rows are compared with DuckDB's. Exit status 1 where one is lost"
                    + " or duplicated, a job does not end or cannot be judged."
        })
public final class Chaos implements Callable<Integer> {

    private static final List<String> TRANSPORTS = List.of("flink", "shm");
    private static final double SCALE_FACTOR = 0.01;

    @Spec private CommandSpec spec;

    @Option(names = "--runs", description = "How many jobs, at most.")
    private int runs = 20;

    @Option(
            names = "--seed",
            description = "Of the faults; the same seed gives the same ones. Random by default.",
            showDefaultValue = picocli.CommandLine.Help.Visibility.NEVER)
    private long seed = new Random().nextInt(1_000_000);

    @Option(names = "--first-run", description = "Number of the first run, to repeat a later one.")
    private int firstRun;

    @Option(names = "--minutes", description = "After which no run begins; 0 for no limit.")
    private double minutes;

    @Option(
            names = "--transport",
            description =
                    "How chunks of a partitioned dimension travel: flink or shm. With rings, one"
                            + " dimension is partitioned in each run.")
    private String transport = "flink";

    @Option(
            names = "--all-faults",
            description =
                    "Also kills the JobManager, stops processes for 90 s and fills file descriptors"
                            + " and disk. Needs root. Plans differ from those without.")
    private boolean allFaults;

    @Option(names = "-D", description = "A Flink option of the jobs: -D key=value.")
    private Map<String, String> options = new LinkedHashMap<>();

    @Option(names = "--root", hidden = true, description = "Folder of the built project.")
    private Path root = Path.of("");

    private final Map<Fault.Action, Integer> faults = new EnumMap<>(Fault.Action.class);
    private final List<Integer> failedRuns = new ArrayList<>();
    private int judgedRuns;

    /** Number of the run that is not judged yet; null between runs. */
    private @Nullable Integer underWay;

    private long lost;
    private long duplicated;
    private PrintWriter out;

    /**
     * Exits with 0 if all runs succeeded, 1 if rows were lost or duplicated or a job failed or
     * could not be judged, 2 if the arguments are invalid.
     */
    public static void main(String[] arguments) {
        System.exit(Cli.run(new Chaos(), arguments));
    }

    @Override
    public Integer call() throws Exception {
        if (runs < 1 || firstRun < 0 || minutes < 0) {
            throw new ParameterException(
                    spec.commandLine(),
                    "Runs are not positive, or a number is negative: runs=%d, firstRun=%d, minutes=%s"
                            .formatted(runs, firstRun, minutes));
        }
        if (!TRANSPORTS.contains(transport)) {
            throw new ParameterException(
                    spec.commandLine(),
                    "Unknown transport: transport=%s. Use one of %s."
                            .formatted(transport, String.join(", ", TRANSPORTS)));
        }
        out = spec.commandLine().getOut();
        Path folder = root.resolve("benchmarks/target/chaos").toAbsolutePath();
        Path data = folder.resolve("data");
        DataFiles.makeMissing(Benchmark.SSB, data, SCALE_FACTOR, table -> {});
        say("seed=%d runs=%d, logs in %s", seed, runs, folder.resolve("cluster/log"));
        long deadlineNs =
                minutes == 0
                        ? Long.MAX_VALUE
                        : System.nanoTime() + (long) (minutes * TimeUnit.MINUTES.toNanos(1));
        try (ChaosData expected = ChaosData.load(data)) {
            int next = firstRun;
            while (next < firstRun + runs && System.nanoTime() < deadlineNs) {
                next = runOnOneCluster(next, deadlineNs, expected, folder);
            }
        }
        say("faults: %s", faults);
        if (!failedRuns.isEmpty()) {
            say("failed: runs=%s", failedRuns);
        }
        say(
                "RESULT chaos runs=%d kills=%d lost=%d duplicated=%d",
                judgedRuns, faults.getOrDefault(Fault.Action.KILL, 0), lost, duplicated);
        return failedRuns.isEmpty() ? 0 : 1;
    }

    /**
     * Executes runs until the last one is complete or a cluster cannot be repaired, which fails the
     * current run.
     *
     * @return number of the next run
     */
    private int runOnOneCluster(int first, long deadlineNs, ChaosData expected, Path folder)
            throws Exception {
        int run = first;
        try (ChaosCluster cluster =
                ChaosCluster.start(
                        root.resolve("bin/cluster").toAbsolutePath(),
                        folder.resolve("cluster"),
                        allFaults)) {
            while (run < firstRun + runs && System.nanoTime() < deadlineNs) {
                run(run++, cluster, expected, folder);
            }
        } catch (InterruptedException e) {
            throw e;
        } catch (Exception e) {
            if (underWay == null) {
                throw e;
            }
            fail(underWay, "it could not be judged, " + Failures.message(e), folder);
        }
        return run;
    }

    private void run(int number, ChaosCluster cluster, ChaosData expected, Path folder)
            throws Exception {
        underWay = number;
        FaultPlan plan = FaultPlan.draw(seed, number, allFaults).over(transport);
        say("run %d: %s", number, plan);
        Path runFolder = folder.resolve("run-" + number);
        FileUtils.deleteDirectory(runFolder.toFile());
        Path results = Files.createDirectories(runFolder.resolve("out"));
        Markers markers = new Markers(Files.createDirectories(runFolder.resolve("markers")));
        ChaosRun run = new ChaosRun(cluster, markers);
        long startNs = System.nanoTime();
        String failure = null;
        try {
            run.run(environment(cluster, plan), plan, folder.resolve("data"), results);
        } catch (ExecutionException | TimeoutException e) {
            failure = Failures.message(e);
        } finally {
            cluster.heal();
        }
        run.applied().forEach((action, count) -> faults.merge(action, count, Integer::sum));
        ChaosData.Difference difference = expected.compare(results);
        judgedRuns++;
        underWay = null;
        lost += difference.lost();
        duplicated += difference.duplicated();
        say(
                "run %d: %.1f s, faults applied=%s, rows=%d lost=%d duplicated=%d",
                number,
                (System.nanoTime() - startNs) / 1e9,
                run.applied(),
                difference.rows(),
                difference.lost(),
                difference.duplicated());
        if (failure == null && difference.lost() + difference.duplicated() == 0) {
            // A task that was paused to the end may still write there.
            FileUtils.deleteDirectoryQuietly(runFolder.toFile());
        } else {
            fail(number, failure == null ? "rows differ from DuckDB's" : failure, folder);
        }
    }

    /** Counts a run as failed, and copies its logs before later runs overwrite them. */
    private void fail(int number, String reason, Path folder) throws IOException {
        failedRuns.add(number);
        Path runFolder = folder.resolve("run-" + number);
        FileUtils.copy(
                new org.apache.flink.core.fs.Path(folder.resolve("cluster/log").toUri()),
                new org.apache.flink.core.fs.Path(runFolder.resolve("log").toUri()),
                false);
        say(
                "run %d: failed, %s; rows and logs in %s; again with: bin/chaos --seed %d --first-run %d --runs 1%s",
                number, reason, runFolder, seed, number, repeated());
    }

    /** Returns the options that repeat a run, besides its seed and number. */
    private String repeated() {
        return (transport.equals("flink") ? "" : " --transport " + transport)
                + (allFaults ? " --all-faults" : "");
    }

    private StreamExecutionEnvironment environment(ChaosCluster cluster, FaultPlan plan)
            throws IOException {
        Configuration config = new Configuration();
        config.set(DeploymentOptions.TARGET, "remote");
        config.set(RestOptions.ADDRESS, cluster.address().getHost());
        config.set(RestOptions.PORT, cluster.address().getPort());
        config.set(PipelineOptions.CLASSPATHS, classPath());
        config.set(PipelineOptions.MAX_PARALLELISM, 128);
        config.set(PipelineOptions.GENERIC_TYPES, false);
        config.set(CoreOptions.DEFAULT_PARALLELISM, StarRowsJob.PARALLELISM);
        config.set(StateBackendOptions.STATE_BACKEND, "rocksdb");
        config.set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, true);
        config.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofMillis(300));
        config.set(CheckpointingOptions.CHECKPOINTING_TIMEOUT, Duration.ofSeconds(10));
        config.set(CheckpointingOptions.TOLERABLE_FAILURE_NUMBER, Integer.MAX_VALUE);
        config.set(CheckpointingOptions.ENABLE_UNALIGNED, plan.unaligned());
        config.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
        config.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, Integer.MAX_VALUE);
        config.set(
                RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(200));
        config.setString("gpu-join.chunk-bytes", "4kb");
        config.setString("gpu-join.flush-interval", "20ms");
        config.setString("gpu-join.transport", transport);
        options.forEach(config::setString);
        return new StreamExecutionEnvironment(config);
    }

    /** All processes run on this machine, so they load the job's classes from its files. */
    private List<String> classPath() throws MalformedURLException {
        return List.of(
                root.resolve("examples/target/star-etl.jar").toAbsolutePath().toUri().toURL() + "",
                Chaos.class.getProtectionDomain().getCodeSource().getLocation().toString());
    }

    private void say(String format, Object... values) {
        out.printf(format + "%n", values);
        out.flush();
    }
}
