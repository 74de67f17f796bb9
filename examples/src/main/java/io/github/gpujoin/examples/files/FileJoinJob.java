// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.files;

import io.github.gpujoin.examples.csv.CsvFormat.BadLines;
import io.github.gpujoin.examples.run.RowCounter;
import io.github.gpujoin.flink.api.PairJoin;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.JoinFunction;
import org.apache.flink.api.common.serialization.SimpleStringEncoder;
import org.apache.flink.configuration.Configuration;
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

/**
 * A join of two files: rows stream from both into the join, and results stream to part files.
 *
 * <p>Result columns are the probe file's, then, unless the join is a semi or anti join, the build
 * file's; fields of a row that there is not are null. A build column whose name is taken gets the
 * prefix of the result's format, as often as it takes.
 *
 * @param nullSafe whether null keys are equal
 * @param result format of the result; null where the join is only explained
 * @param badLines what becomes of a line that cannot be read
 */
public record FileJoinJob(
        RecordFile build,
        RecordFile probe,
        Kind kind,
        boolean nullSafe,
        FileFormat result,
        BadLines badLines) {

    /** Kinds of joins. */
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

    /** Accumulator of lines that could not be read. */
    public static final String BAD_ROWS = BadRows.COUNT;

    private static final String UID = "file-join";

    /** The result's columns. */
    public RowType columns() {
        List<RowType.RowField> fields = new ArrayList<>();
        Set<String> taken = new HashSet<>();
        for (RowType.RowField column : probe.columns().getFields()) {
            taken.add(column.getName());
            fields.add(new RowType.RowField(column.getName(), column.getType().copy(true)));
        }
        if (kind.keepsBuildColumns()) {
            for (RowType.RowField column : build.columns().getFields()) {
                String name = column.getName();
                while (!taken.add(name)) {
                    name = result.buildPrefix() + name;
                }
                fields.add(new RowType.RowField(name, column.getType().copy(true)));
            }
        }
        return new RowType(false, fields);
    }

    /** Rows of both files, near enough. */
    public long expectedRows() {
        return build.format().records().estimateRows(build.path())
                + probe.format().records().estimateRows(probe.path());
    }

    /**
     * Begins the job that writes part files to directories.
     *
     * @param problems for what is wrong with lines that could not be read
     */
    public JobClient start(StreamExecutionEnvironment env, Path parts, Path problems)
            throws Exception {
        RowType columns = columns();
        if (!env.getCheckpointConfig().isCheckpointingEnabled()) {
            // Parts of a subtask that has ended are final, which only a checkpoint remembers.
            env.configure(new Configuration().set(RestartStrategyOptions.RESTART_STRATEGY, "none"));
        }
        FileSink<RowData> sink = result.records().sink(parts, columns);
        join(env, problems)
                .apply(joined(), InternalTypeInfo.of(columns))
                .sinkTo(sink)
                .name("result")
                .uid(UID + "-result");
        return env.executeAsync(UID);
    }

    /** How the join will be run, and why so. */
    public String explain(StreamExecutionEnvironment env) throws IOException {
        return join(env, null).explain();
    }

    /**
     * @param problems null where lines that cannot be read fail the job
     */
    private PairJoin.Keyed<RowData, RowData> join(StreamExecutionEnvironment env, Path problems)
            throws IOException {
        RecordKey.Comparison comparison = RecordKey.Comparison.of(build, probe);
        PairJoin.Keyed<RowData, RowData> join =
                PairJoin.build(read(env, build, "build", problems))
                        .probe(read(env, probe, "probe", problems))
                        .where(RecordKey.of(comparison, build), comparison.type())
                        .equalTo(RecordKey.of(comparison, probe), comparison.type())
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

    /** Puts the part files of the result together. */
    public void concatenate(Path parts, Path out) throws IOException {
        result.records().concatenate(finishedIn(parts), columns(), out);
    }

    /** All files that a sink has finished, in order; what failed attempts leave stays hidden. */
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
        // Lines are of CSV alone; the other formats cannot go on behind what they cannot read.
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
