// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.bench;

import io.github.gpujoin.benchmarks.flink.Sinks;
import io.github.gpujoin.benchmarks.join.Observations;
import io.github.gpujoin.benchmarks.join.OutputFile;
import io.github.gpujoin.benchmarks.workload.KeyDomain;
import io.github.gpujoin.benchmarks.workload.Tuples;
import io.github.gpujoin.report.CheckpointPlots;
import io.github.gpujoin.systemtests.soak.CheckpointTrend;
import io.github.gpujoin.systemtests.soak.CheckpointedJoin;
import io.github.gpujoin.systemtests.soak.EndlessJob;
import io.github.gpujoin.systemtests.soak.EndlessJoin;
import io.github.gpujoin.systemtests.soak.MemorySample;
import io.github.gpujoin.systemtests.soak.MemoryTrend;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.apache.flink.util.FileUtils;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Joins without end and watches memory. */
@Command(
        name = "soak",
        description = {
            "Joins without end and fails if memory grows or results stop.",
            "With --sink-rows-per-second the sinks are slow, and checkpoints are taken, with state"
                    + " in RocksDB, of which none may fail, and which may grow neither in size nor"
                    + " in duration."
        },
        mixinStandardHelpOptions = true,
        showDefaultValues = true)
final class SoakCommand implements Callable<Integer> {

    private static final long LIVE_SLACK_BYTES = 16L << 20;
    private static final long RESIDENT_SLACK_BYTES = 128L << 20;
    private static final long SEED = 42;

    private final CheckpointTrend checkpointTrend = new CheckpointTrend();

    /** Memory by seconds since the job joins. */
    private final Map<Long, MemorySample> memory = new TreeMap<>();

    @Spec private CommandSpec spec;

    @Option(names = "--minutes", description = "How long.")
    private double minutes = 10;

    @Option(names = "--every-seconds", description = "Time between samples of memory.")
    private int everySeconds = 10;

    @Option(names = "--build-rows", description = "Rows with unique keys.")
    private int buildRows = 1_000_000;

    @Option(names = "--threads", description = "Slots of the embedded cluster.")
    private int threads = 2;

    @Option(
            names = "--sink-rows-per-second",
            description = "Result rows that the sinks take; 0 for as many as come.")
    private long sinkRowsPerSecond;

    /** What leaves the join. */
    private enum Results {
        ROWS,
        COLUMNS
    }

    /** Where the sinks run. */
    private enum SinkTask {
        CHAINED,
        APART
    }

    @Option(names = "--results", description = "Where sinks are slow: ${COMPLETION-CANDIDATES}.")
    private Results results = Results.COLUMNS;

    @Option(
            names = "--sink",
            description =
                    "Where sinks are slow: ${COMPLETION-CANDIDATES} (in the task of the join, or of"
                            + " their own).")
    private SinkTask sink = SinkTask.CHAINED;

    @Option(names = "--fan-out", description = "Where sinks are slow: results of each fact.")
    private int fanOut = 1;

    @Option(names = "-D", description = "Where sinks are slow: a Flink option, -D key=value.")
    private Map<String, String> options = new LinkedHashMap<>();

    @Option(
            names = "--json",
            converter = OutputFile.class,
            description =
                    "File for size and duration of each checkpoint and for memory, where sinks are"
                            + " slow.")
    private @Nullable Path json;

    @Option(
            names = "--charts",
            description =
                    "Folder for checkpoint-size.svg and checkpoint-duration.svg, where sinks are"
                            + " slow.")
    private @Nullable Path charts;

    @Option(
            names = "--interval-seconds",
            description = "Between checkpoints, where sinks are slow.")
    private int intervalSeconds = 10;

    @Option(names = "--folder", description = "For checkpoints; emptied at the end.")
    private Path folder = Path.of("benchmarks", "target", "soak");

    @Override
    public Integer call() throws Exception {
        int samples = everySeconds < 1 ? 0 : (int) (minutes * 60 / everySeconds);
        if (samples < MemoryTrend.MIN_SAMPLES
                || buildRows < 1
                || threads < 1
                || sinkRowsPerSecond < 0
                || intervalSeconds < 1
                || fanOut < 1) {
            throw new ParameterException(
                    spec.commandLine(),
                    "Fewer than %d samples, or a number that is not positive: minutes=%s, everySeconds=%d"
                                    .formatted(MemoryTrend.MIN_SAMPLES, minutes, everySeconds)
                            + ", buildRows=%d, threads=%d, sinkRowsPerSecond=%d"
                                    .formatted(buildRows, threads, sinkRowsPerSecond)
                            + ", intervalSeconds=%d, fanOut=%d".formatted(intervalSeconds, fanOut));
        }
        if (sinkRowsPerSecond == 0 && (fanOut > 1 || json != null || charts != null)) {
            throw new ParameterException(
                    spec.commandLine(),
                    "--fan-out, --json and --charts apply to slow sinks only."
                            + " Set --sink-rows-per-second.");
        }
        Tuples tuples = Tuples.generate(buildRows, 4L * buildRows, KeyDomain.DENSE, SEED);
        MemoryTrend trend = new MemoryTrend(LIVE_SLACK_BYTES, RESIDENT_SLACK_BYTES);
        String checkpoints = "";
        if (sinkRowsPerSecond == 0) {
            try (EndlessJob join = EndlessJoin.start(tuples, threads)) {
                watch(join, trend, samples);
            }
        } else {
            checkpoints = " checkpoints=" + watchSlow(tuples, trend, samples);
        }
        Map<String, Long> growth = new TreeMap<>(trend.growthBytes());
        if (sinkRowsPerSecond > 0) {
            growth.putAll(checkpointTrend.growth());
        }
        if (!growth.isEmpty()) {
            spec.commandLine()
                    .getErr()
                    .println("memory and checkpoints must stay flat: grownBy=" + growth);
            return 1;
        }
        spec.commandLine()
                .getOut()
                .println("RESULT soak memory=flat samples=" + samples + checkpoints);
        return 0;
    }

    /** How many checkpoints there were. */
    private long watchSlow(Tuples tuples, MemoryTrend trend, int samples) throws Exception {
        CheckpointedJoin.Job job =
                new CheckpointedJoin.Job(
                        threads, Files.createDirectories(folder.toAbsolutePath()), options);
        Duration interval = Duration.ofSeconds(intervalSeconds);
        try (CheckpointedJoin join =
                CheckpointedJoin.endless(
                        tuples,
                        job,
                        interval,
                        new Sinks(
                                sinkRowsPerSecond,
                                results == Results.ROWS,
                                sink == SinkTask.APART,
                                fanOut))) {
            join.awaitJoining();
            join.awaitBuildEnded();
            // One that is triggered before all tasks run is none that sinks were in the way of.
            long failedBefore = join.failedCheckpoints();
            watch(join, trend, samples);
            long seconds = (long) samples * everySeconds;
            long completed = join.completedCheckpoints();
            reportCheckpoints();
            long failed = join.failedCheckpoints() - failedBefore;
            // A checkpoint starts when the one before is complete. The first may wait for the build
            // side, and the last may be in progress.
            long everyMs =
                    Math.max(
                            TimeUnit.SECONDS.toMillis(intervalSeconds),
                            checkpointTrend.medianDurationMs());
            if (failed > 0 || completed < TimeUnit.SECONDS.toMillis(seconds) / everyMs - 2) {
                throw new IllegalStateException(
                        "Checkpoints failed or were missing behind slow sinks: completed=%d, failed=%d, seconds=%d"
                                .formatted(completed, failed, seconds));
            }
            return completed;
        } finally {
            FileUtils.deleteDirectory(folder.toFile());
        }
    }

    private void reportCheckpoints() throws Exception {
        Observations observations =
                new Observations(Bench.typed(spec), spec.commandLine().getOut());
        for (CheckpointTrend.Sample sample : checkpointTrend.samples()) {
            observations.add(
                    "soak-checkpoint",
                    "id",
                    sample.id(),
                    "state_bytes",
                    sample.stateBytes(),
                    "duration_ms",
                    sample.durationMs());
        }
        memory.forEach(
                (seconds, sample) ->
                        observations.add(
                                "soak-memory",
                                "seconds",
                                seconds,
                                "heap_bytes",
                                sample.heapBytes(),
                                "region_bytes",
                                sample.regionBytes(),
                                "resident_bytes",
                                sample.residentBytes()));
        if (json != null) {
            observations.write(json);
        }
        if (charts != null) {
            new CheckpointPlots(checkpointTrend.samples()).write(charts);
        }
    }

    private void watch(EndlessJob join, MemoryTrend trend, int samples) throws Exception {
        PrintWriter out = spec.commandLine().getOut();
        out.printf("%8s %10s %12s %12s %14s%n", "s", "heap MiB", "regions MiB", "RSS MiB", "rows");
        long rowsBefore = 0;
        for (int i = 1; i <= samples; i++) {
            TimeUnit.SECONDS.sleep(everySeconds);
            join.requireRunning();
            if (join instanceof CheckpointedJoin checkpointed) {
                checkpointed.recentCheckpoints().forEach(checkpointTrend::add);
            }
            MemorySample sample = MemorySample.take();
            trend.add(sample);
            memory.put((long) i * everySeconds, sample);
            long rows = join.resultRows();
            out.printf(
                    "%8d %10d %12d %12d %14d%n",
                    (long) i * everySeconds,
                    sample.heapBytes() >> 20,
                    sample.regionBytes() >> 20,
                    sample.residentBytes() >> 20,
                    rows);
            out.flush();
            if (i > 1 && rows == rowsBefore) {
                throw new IllegalStateException("results must keep coming: resultRows=" + rows);
            }
            rowsBefore = rows;
        }
    }
}
