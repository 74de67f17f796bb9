// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.bench;

import io.github.gpujoin.benchmarks.flink.StarJoinJobs;
import io.github.gpujoin.benchmarks.join.Contender;
import io.github.gpujoin.benchmarks.join.ContenderResult;
import io.github.gpujoin.benchmarks.join.JsonReport;
import io.github.gpujoin.benchmarks.join.Machine;
import io.github.gpujoin.benchmarks.join.Rounds;
import io.github.gpujoin.benchmarks.join.TextReport;
import io.github.gpujoin.benchmarks.workload.KeyDomain;
import io.github.gpujoin.benchmarks.workload.Tuples;
import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import io.github.gpujoin.flink.api.options.RingSharing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.TaskManagerOptions;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Compares rings of pairs of subtasks with rings that subtasks of a TaskManager share. */
@Command(
        name = "rings",
        description = {
            "Joins two partitioned sides over Flink's channels, over a ring for each pair of"
                    + " subtasks, and over rings that the subtasks of a TaskManager share.",
            "The shorter the flush interval, the smaller are the chunks. Figures beside the rate:"
                    + " the most rings that were open, the memory reserved for them, the mean chunk"
                    + " in them, and the chunks in a slot of a shared one."
        },
        mixinStandardHelpOptions = true,
        showDefaultValues = true)
final class RingsCommand implements Callable<Integer> {

    private static final long SEED = 17;

    @Spec private CommandSpec spec;

    @Option(names = "--build-rows", description = "Rows with unique keys.")
    private int buildRows = 1 << 18;

    @Option(names = "--probe-rows", description = "Facts of each run.")
    private long probeRows = 1 << 24;

    @Option(names = "--task-managers", description = "TaskManagers of the embedded cluster.")
    private int taskManagers = 2;

    @Option(names = "--slots", description = "Slots, and subtasks of each side, a TaskManager.")
    private int slots = 8;

    @Option(names = "--flush-ms", split = ",", description = "Flush intervals.")
    private List<Integer> flushMs = List.of(2, 100);

    @Mixin private MeasurementOptions measurement = new MeasurementOptions(3);

    @Override
    public Integer call() throws Exception {
        if (buildRows < 1
                || probeRows < 1
                || taskManagers < 1
                || slots < 1
                || !flushMs.stream().allMatch(ms -> ms >= 1)) {
            throw new ParameterException(
                    spec.commandLine(),
                    ("A number is not positive: --build-rows=%d, --probe-rows=%d,"
                                    + " --task-managers=%d, --slots=%d, --flush-ms=%s")
                            .formatted(buildRows, probeRows, taskManagers, slots, flushMs));
        }
        List<ContenderResult> results;
        try (Tuples tuples = Tuples.generate(buildRows, probeRows, KeyDomain.DENSE, SEED)) {
            results =
                    new Rounds(contenders(tuples), spec.commandLine().getErr()::println)
                            .run(measurement.rounds());
        }
        TextReport report = new TextReport(results);
        spec.commandLine().getOut().println(report.table());
        spec.commandLine().getOut().print(report.details());
        spec.commandLine().getOut().print(report.resultLines());
        spec.commandLine().getOut().flush();
        if (measurement.json() != null) {
            new JsonReport(
                            Machine.here(),
                            Map.of("java", System.getProperty("java.runtime.version")),
                            Bench.typed(spec),
                            results)
                    .write(measurement.json());
        }
        spec.commandLine().getErr().print(report.disagreements());
        return report.disagreements().isEmpty() ? 0 : 1;
    }

    private List<Contender> contenders(Tuples tuples) {
        List<Contender> contenders = new ArrayList<>();
        for (int ms : flushMs) {
            contenders.add(contender(tuples, ms, "flink", RingSharing.NONE));
            for (RingSharing sharing : RingSharing.values()) {
                contenders.add(contender(tuples, ms, "shm", sharing));
            }
        }
        return contenders;
    }

    private Contender contender(Tuples tuples, int ms, String transport, RingSharing sharing) {
        Configuration settings = new Configuration();
        settings.set(TaskManagerOptions.MINI_CLUSTER_NUM_TASK_MANAGERS, taskManagers);
        settings.set(TaskManagerOptions.NUM_TASK_SLOTS, slots);
        settings.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.ofMebiBytes(1024));
        settings.set(GpuJoinOptions.ENGINE, GpuJoinOptions.Engine.CPU);
        settings.set(GpuJoinOptions.TRANSPORT, transport);
        settings.set(GpuJoinOptions.RING_SHARING, sharing);
        settings.set(GpuJoinOptions.FLUSH_INTERVAL, Duration.ofMillis(ms));
        String rings = transport.equals("flink") ? "" : "-" + lowerCase(sharing);
        return StarJoinJobs.partitioned(
                transport + rings + "-flush-" + ms + "ms", tuples, taskManagers * slots, settings);
    }

    private static String lowerCase(RingSharing sharing) {
        return sharing.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
