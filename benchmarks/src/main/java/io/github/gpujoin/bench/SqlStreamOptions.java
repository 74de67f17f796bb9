// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.bench;

import io.github.gpujoin.benchmarks.join.ContenderResult;
import io.github.gpujoin.benchmarks.join.Observations;
import io.github.gpujoin.benchmarks.join.Summary;
import io.github.gpujoin.benchmarks.join.TextReport;
import io.github.gpujoin.benchmarks.sql.SqlComparison;
import io.github.gpujoin.benchmarks.sql.SqlFigure;
import io.github.gpujoin.benchmarks.sql.SqlJob;
import io.github.gpujoin.benchmarks.sql.SqlPlanner;
import io.github.gpujoin.examples.run.JobCluster;
import java.io.PrintWriter;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** Command-line options for queries over streams, and their measurement. */
final class SqlStreamOptions {

    private static final List<String> STATES = List.of("hashmap", "rocksdb");
    private static final int MAX_THREADS = 128;
    private static final long MIN_SLOT_MEMORY_MIB = 32;
    private static final long MAX_SLOT_MEMORY_MIB = 1 << 20;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    @Option(names = "--threads", description = "Slots of Flink's cluster, and source subtasks.")
    private int threads = 2;

    @Option(
            names = "--contender",
            split = ",",
            converter = PlannerByLabel.class,
            description =
                    "Contenders beside flink, whose answers are the expected ones: some of"
                            + " ours, ours-multi-join, flink-mini-batch, flink-multi-join. A contender"
                            + " whose plan is that of another one is skipped. Default: all")
    private Set<SqlPlanner> planners = EnumSet.allOf(SqlPlanner.class);

    @Option(
            names = "--state",
            description = "Flink's state backend: hashmap, on the heap, or rocksdb.")
    private String state = STATES.get(0);

    @Option(
            names = "--slot-memory-mb",
            description =
                    "Managed memory of a slot in MiB: for RocksDB, and for the tables of ours,"
                            + " which share it where both exist.")
    private long slotMemoryMib = 512;

    @Mixin private MeasurementOptions measurement = new MeasurementOptions(3);

    /** Finds a contender by its name in reports. */
    private static final class PlannerByLabel implements ITypeConverter<SqlPlanner> {

        @Override
        public SqlPlanner convert(String label) {
            return Arrays.stream(SqlPlanner.values())
                    .filter(planner -> planner.label().equals(label))
                    .findFirst()
                    .orElseThrow(
                            () ->
                                    new TypeConversionException(
                                            "'%s' is none of %s"
                                                    .formatted(
                                                            label,
                                                            Arrays.stream(SqlPlanner.values())
                                                                    .map(SqlPlanner::label)
                                                                    .toList())));
        }
    }

    /** Returns the number of source subtasks. */
    int threads() {
        return threads;
    }

    /** Rejects options out of range. */
    void check() {
        require(
                threads >= 1 && threads <= MAX_THREADS,
                "--threads is not within 1 and %d: %d".formatted(MAX_THREADS, threads));
        require(
                slotMemoryMib >= MIN_SLOT_MEMORY_MIB && slotMemoryMib <= MAX_SLOT_MEMORY_MIB,
                "--slot-memory-mb is not within %d and %d: %d"
                        .formatted(MIN_SLOT_MEMORY_MIB, MAX_SLOT_MEMORY_MIB, slotMemoryMib));
        require(
                STATES.contains(state),
                "Unknown --state: %s. Use one of %s.".formatted(state, STATES));
    }

    void require(boolean holds, String message) {
        if (!holds) {
            throw new ParameterException(spec.commandLine(), message);
        }
    }

    /**
     * Measures queries one after the other and reports each contender.
     *
     * @param name of the reported lines
     * @param job creates the job of a query
     * @return exit status: 0 if the answers of all contenders agree, else 1
     */
    <Q> int measure(String name, List<Q> queries, Function<Q, SqlJob> job) throws Exception {
        PrintWriter out = spec.commandLine().getOut();
        PrintWriter err = spec.commandLine().getErr();
        Observations observations = new Observations(Bench.typed(spec), out);
        Configuration options = new Configuration();
        options.set(StateBackendOptions.STATE_BACKEND, state);
        boolean isRight = true;
        Configuration machine = new Configuration();
        machine.set(
                TaskManagerOptions.MANAGED_MEMORY_SIZE,
                MemorySize.ofMebiBytes(slotMemoryMib * threads));
        try (JobCluster cluster = JobCluster.open(threads, machine)) {
            SqlComparison comparison =
                    new SqlComparison(
                            cluster,
                            options,
                            line -> {
                                err.println(line);
                                err.flush();
                            });
            for (Q query : queries) {
                List<SqlFigure> figures =
                        comparison.run(job.apply(query), planners, measurement.rounds());
                figures.forEach(figure -> add(observations, name, figure, figures.get(0)));
                List<ContenderResult> results = figures.stream().map(SqlFigure::result).toList();
                err.print(new TextReport(results).disagreements());
                err.flush();
                isRight &= figures.stream().allMatch(SqlFigure::isRight);
            }
        }
        if (measurement.json() != null) {
            observations.write(measurement.json());
        }
        return isRight ? 0 : 1;
    }

    private static void add(
            Observations observations, String name, SqlFigure figure, SqlFigure flink) {
        Summary perCoreSecond = figure.eventsPerCoreSecond();
        Summary perSecond = figure.eventsPerSecond();
        observations.add(
                name,
                "query",
                figure.query(),
                "contender",
                figure.contender(),
                "events_per_core_second",
                perCoreSecond.median(),
                "min",
                perCoreSecond.min(),
                "max",
                perCoreSecond.max(),
                "x_flink",
                perCoreSecond.median() / flink.eventsPerCoreSecond().median(),
                "events_per_second",
                perSecond.median(),
                "min_per_second",
                perSecond.min(),
                "max_per_second",
                perSecond.max(),
                "events",
                figure.result().probeRows(),
                "result_rows",
                figure.resultRows(),
                "answer",
                figure.isRight() ? "right" : "wrong");
    }
}
