// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.files;

import io.github.gpujoin.examples.csv.CsvFormat.BadLines;
import io.github.gpujoin.examples.run.RowCounter;
import io.github.gpujoin.flink.api.PairJoin;
import io.github.gpujoin.flink.api.explain.JoinExplanation;
import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.JoinFunction;
import org.apache.flink.api.common.serialization.SimpleStringEncoder;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.configuration.JobManagerOptions;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.connector.file.sink.FileSink;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.filesystem.rollingpolicies.OnCheckpointRollingPolicy;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.utils.JoinedRowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.RowType;
import org.jspecify.annotations.Nullable;

/**
 * A job that joins two files and writes the result to part files.
 *
 * <p>The result holds the probe columns, then the build columns, which semi and anti joins omit.
 * The columns of a missing row are null. The prefix of the result format is added to a build column
 * until its name is unique.
 *
 * @param keys as which the keys of both files are compared
 * @param nullSafe whether null keys match null keys
 * @param result format of the result, or null if the join is only explained
 * @param badLines how to treat a malformed CSV line
 */
public record FileJoinJob(
        RecordFile build,
        RecordFile probe,
        RecordKey.Comparison keys,
        Kind kind,
        boolean nullSafe,
        @Nullable FileFormat result,
        BadLines badLines) {

    /** Join kinds; the probe file is the left side. */
    public enum Kind {
        INNER,
        LEFT,
        RIGHT,
        FULL,
        SEMI,
        ANTI;

        private boolean keepsBuildColumns() {
            return this != SEMI && this != ANTI;
        }
    }

    /** Name of the accumulator of malformed lines. */
    public static final String BAD_ROWS = BadRows.COUNT;

    private static final String UID = "file-join";

    /**
     * Returns a job of two files.
     *
     * @throws io.github.gpujoin.examples.run.Cli.UserError if the types of the keys differ, or
     *     cannot be keys
     */
    public static FileJoinJob of(
            RecordFile build,
            RecordFile probe,
            Kind kind,
            boolean nullSafe,
            @Nullable FileFormat result,
            BadLines badLines) {
        return new FileJoinJob(
                build,
                probe,
                RecordKey.Comparison.of(build, probe),
                kind,
                nullSafe,
                result,
                badLines);
    }

    /** Returns the columns of the result. */
    public RowType columns() {
        List<RowType.RowField> fields = new ArrayList<>();
        Set<String> names = new HashSet<>();
        for (RowType.RowField column : probe.columns().getFields()) {
            names.add(column.getName());
            fields.add(new RowType.RowField(column.getName(), column.getType().copy(true)));
        }
        if (kind.keepsBuildColumns()) {
            for (RowType.RowField column : build.columns().getFields()) {
                String name = column.getName();
                while (!names.add(name)) {
                    name = result.buildPrefix() + name;
                }
                fields.add(new RowType.RowField(name, column.getType().copy(true)));
            }
        }
        return new RowType(false, fields);
    }

    /** Returns an estimate of the rows of both files. */
    public long expectedRows() {
        return build.format().records().estimateRows(build.path())
                + probe.format().records().estimateRows(probe.path());
    }

    /**
     * Starts the job, which writes part files to the two directories.
     *
     * @param problems directory of the descriptions of malformed lines
     */
    public JobClient start(StreamExecutionEnvironment env, Path parts, Path problems)
            throws Exception {
        ParquetJoin chunks = parquetJoin(env);
        if (chunks != null) {
            chunks.addTo(env, parts, UID);
            return env.executeAsync(UID);
        }
        RowType columns = columns();
        FileSink<RowData> sink = result.records().sink(parts, columns);
        join(env, problems)
                .apply(joined(), InternalTypeInfo.of(columns))
                .sinkTo(sink)
                .name("result")
                .uid(UID + "-result");
        return env.executeAsync(UID);
    }

    /** Returns the plan of the join and its reasons. */
    public JoinExplanation explain(StreamExecutionEnvironment env) throws IOException {
        ParquetJoin chunks = parquetJoin(env);
        return chunks == null ? join(env, null).explain() : chunks.join(env, UID).explain();
    }

    /** Returns the join of chunks, or null if rows are joined, and sets what the job needs. */
    private @Nullable ParquetJoin parquetJoin(StreamExecutionEnvironment env) throws IOException {
        ReadableConfig options = env.getConfiguration();
        ParquetJoin join =
                options.get(ExecutionOptions.RUNTIME_MODE) == RuntimeExecutionMode.BATCH
                        ? ParquetJoin.of(this)
                        : null;
        if (join != null) {
            // Other schedulers of batch mode reject exchanges that write nothing to disk.
            env.configure(
                    new Configuration()
                            .set(
                                    JobManagerOptions.SCHEDULER,
                                    JobManagerOptions.SchedulerType.Default));
            restartOnce(env);
        } else if (!env.getCheckpointConfig().isCheckpointingEnabled()) {
            // Only a checkpoint records that the part files of an ended subtask are final.
            env.configure(new Configuration().set(RestartStrategyOptions.RESTART_STRATEGY, "none"));
        }
        return join;
    }

    /**
     * Lets the CPU join if a GPU fails, unless another restart strategy is asked for. An attempt
     * makes the file visible with its last step only.
     */
    private static void restartOnce(StreamExecutionEnvironment env) {
        ReadableConfig options = env.getConfiguration();
        if (options.getOptional(RestartStrategyOptions.RESTART_STRATEGY).isPresent()) {
            return;
        }
        GpuJoinOptions.Engine engine = options.get(GpuJoinOptions.ENGINE);
        boolean mayUseGpu =
                engine == GpuJoinOptions.Engine.AUTO || engine == GpuJoinOptions.Engine.GPU;
        env.configure(
                new Configuration()
                        .set(
                                RestartStrategyOptions.RESTART_STRATEGY,
                                mayUseGpu ? "fixed-delay" : "none")
                        .set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 1)
                        .set(
                                RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY,
                                Duration.ZERO));
    }

    /**
     * @param problems directory of problem descriptions, or null if a malformed line fails the job
     */
    private PairJoin.Keyed<RowData, RowData> join(
            StreamExecutionEnvironment env, @Nullable Path problems) throws IOException {
        PairJoin.Keyed<RowData, RowData> join =
                PairJoin.build(read(env, build, "build", problems))
                        .probe(read(env, probe, "probe", problems))
                        .where(RecordKey.of(keys, build), keys.type())
                        .equalTo(RecordKey.of(keys, probe), keys.type())
                        .expectedBytes(Files.size(build.path()))
                        .uid(UID);
        if (nullSafe) {
            join.nullSafe();
        }
        return ofKind(join);
    }

    private PairJoin.Keyed<RowData, RowData> ofKind(PairJoin.Keyed<RowData, RowData> join) {
        return switch (kind) {
            case INNER -> join;
            case LEFT -> join.left();
            case RIGHT -> join.right();
            case FULL -> join.full();
            case SEMI -> join.semi();
            case ANTI -> join.anti();
        };
    }

    private JoinFunction<RowData, RowData, RowData> joined() {
        if (!kind.keepsBuildColumns()) {
            return (b, p) -> p;
        }
        int probeColumns = probe.columns().getFieldCount();
        int buildColumns = build.columns().getFieldCount();
        return (b, p) ->
                new JoinedRowData(
                        p == null ? new GenericRowData(probeColumns) : p,
                        b == null ? new GenericRowData(buildColumns) : b);
    }

    /** Concatenates the part files of the result. */
    public void concatenate(Path parts, Path out) throws IOException {
        result.records().concatenate(finishedIn(parts), columns(), out);
    }

    /**
     * Returns the finished part files of a sink in order, without hidden files of failed attempts.
     */
    public static List<Path> finishedIn(Path parts) throws IOException {
        try (Stream<Path> files = Files.walk(parts)) {
            return files.filter(Files::isRegularFile)
                    .filter(file -> !file.getFileName().toString().startsWith("."))
                    .sorted()
                    .toList();
        }
    }

    private DataStream<RowData> read(
            StreamExecutionEnvironment env, RecordFile file, String side, Path problems) {
        // Only CSV can skip a malformed record; the other formats cannot find the next one.
        BadLines bad = file.format() == FileFormat.CSV ? badLines : BadLines.FAIL;
        DataStream<RowData> rows =
                env.fromSource(
                                file.format().records().source(file, bad),
                                WatermarkStrategy.noWatermarks(),
                                side)
                        .uid(UID + "-" + side)
                        .map(RowCounter.<RowData>ofRecords(side.equals("probe")))
                        .returns(file.format().records().source(file, bad).getProducedType())
                        .name("count rows of " + side)
                        .uid(UID + "-" + side + "-rows");
        return bad == BadLines.FAIL ? rows : withoutBad(rows, file, side, problems);
    }

    private static DataStream<RowData> withoutBad(
            DataStream<RowData> rows, RecordFile file, String side, Path problems) {
        SingleOutputStreamOperator<RowData> good =
                rows.process(
                                new BadRows(file.columns().getFieldCount()),
                                InternalTypeInfo.of(file.columns()))
                        .name("bad rows of " + side)
                        .uid(UID + "-" + side + "-bad-rows");
        good.getSideOutput(BadRows.PROBLEMS)
                .sinkTo(
                        FileSink.forRowFormat(
                                        new org.apache.flink.core.fs.Path(problems.toUri()),
                                        new SimpleStringEncoder<String>())
                                .withRollingPolicy(OnCheckpointRollingPolicy.build())
                                .build())
                .name("problems of " + side)
                .uid(UID + "-" + side + "-problems");
        return good;
    }
}
