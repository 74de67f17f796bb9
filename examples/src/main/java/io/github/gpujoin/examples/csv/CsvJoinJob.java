package io.github.gpujoin.examples.csv;

import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.examples.run.RowCounter;
import io.github.gpujoin.flink.api.Dimension;
import io.github.gpujoin.flink.api.StarJoin;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.connector.file.sink.FileSink;
import org.apache.flink.connector.file.src.FileSource;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.filesystem.rollingpolicies.OnCheckpointRollingPolicy;
import org.apache.flink.types.Row;

/**
 * A join of two CSV files: records stream from both files into a star join with one dimension, and
 * results stream to part files.
 *
 * <p>Result columns are the probe file's, then, unless the join is a semi join, the build file's. A
 * build column whose name is taken gets the prefix {@code build.}, as often as it takes.
 */
public final class CsvJoinJob {

    private static final String UID = "csv-join";

    private final CsvHeader build;
    private final CsvHeader probe;
    private final JoinKind kind;

    public CsvJoinJob(CsvHeader build, CsvHeader probe, JoinKind kind) {
        this.build = build;
        this.probe = probe;
        this.kind = kind;
    }

    /** Names of the result's columns. */
    public List<String> columns() {
        List<String> columns = new ArrayList<>(probe.columns());
        Set<String> taken = new HashSet<>(columns);
        if (kind.keepsPayload()) {
            for (String column : build.columns()) {
                String name = column;
                while (!taken.add(name)) {
                    name = "build." + name;
                }
                columns.add(name);
            }
        }
        return columns;
    }

    /** Rows of both files, near enough. */
    public long expectedRows() {
        return RowCounter.estimate(Path.of(build.file()))
                + RowCounter.estimate(Path.of(probe.file()));
    }

    /** Begins the job that writes part files to a directory. */
    public JobClient start(StreamExecutionEnvironment env, Path parts) throws Exception {
        CsvFormat probeFormat = new CsvFormat(probe, "p");
        CsvFormat buildFormat = new CsvFormat(build, "b");
        Dimension<Row, Row> join =
                StarJoin.facts(read(env, probeFormat, probe, "probe", true))
                        .select(fields(probeFormat, probe.size(), -1))
                        .dimension(read(env, buildFormat, build, "build", false))
                        .named("build")
                        .on(
                                probeFormat.field(probe.keyColumn()),
                                buildFormat.field(build.keyColumn()))
                        .expectedBytes(Files.size(Path.of(build.file())));
        if (kind.keepsPayload()) {
            join.select(fields(buildFormat, build.size(), build.keyColumn()));
        } else {
            join.semi();
        }
        FileSink<Row> sink =
                FileSink.forRowFormat(
                                new org.apache.flink.core.fs.Path(parts.toUri()),
                                new CsvEncoder(positions()))
                        .withRollingPolicy(OnCheckpointRollingPolicy.build())
                        .build();
        join.uid(UID).toRows().sinkTo(sink).name("result").uid(UID + "-result");
        return env.executeAsync(UID);
    }

    /** Puts the header line and the part files together. */
    public void concatenate(Path parts, OutputStream out) throws IOException {
        out.write(new CsvEncoder(new int[0]).line(columns().toArray(String[]::new)));
        try (Stream<Path> files = Files.walk(parts)) {
            files.filter(Files::isRegularFile).sorted().forEach(file -> append(file, out));
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    private static void append(Path file, OutputStream out) {
        try {
            Files.copy(file, out);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static DataStream<Row> read(
            StreamExecutionEnvironment env,
            CsvFormat format,
            CsvHeader header,
            String side,
            boolean facts) {
        FileSource<Row> source =
                FileSource.forRecordStreamFormat(
                                format,
                                new org.apache.flink.core.fs.Path(Path.of(header.file()).toUri()))
                        .build();
        return env.fromSource(source, WatermarkStrategy.noWatermarks(), side)
                .uid(UID + "-" + side)
                .map(RowCounter.<Row>ofRecords(facts))
                .returns(format.getProducedType())
                .name("count rows of " + side)
                .uid(UID + "-" + side + "-rows");
    }

    /** The fields of all columns but one. */
    private static String[] fields(CsvFormat format, int columns, int without) {
        return IntStream.range(0, columns)
                .filter(column -> column != without)
                .mapToObj(format::field)
                .toArray(String[]::new);
    }

    /** Where result columns stand in joined rows; the build key is the probe key once more. */
    private int[] positions() {
        List<Integer> positions = new ArrayList<>();
        for (int i = 0; i < probe.size(); i++) {
            positions.add(i);
        }
        int next = probe.size();
        for (int i = 0; kind.keepsPayload() && i < build.size(); i++) {
            positions.add(i == build.keyColumn() ? probe.keyColumn() : next++);
        }
        return positions.stream().mapToInt(Integer::intValue).toArray();
    }
}
