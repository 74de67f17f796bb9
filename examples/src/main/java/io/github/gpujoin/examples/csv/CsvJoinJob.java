package io.github.gpujoin.examples.csv;

import io.github.gpujoin.examples.run.RowCounter;
import io.github.gpujoin.flink.api.GpuJoin;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.BasicArrayTypeInfo;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.connector.file.sink.FileSink;
import org.apache.flink.connector.file.src.FileSource;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.filesystem.rollingpolicies.OnCheckpointRollingPolicy;

/**
 * A join of two CSV files: records stream from both files into the join, and results stream to part
 * files.
 *
 * <p>Result columns are the probe file's, then, unless the join is a semi or anti join, the build
 * file's; fields of a record that there is not are null. A build column whose name is taken gets
 * the prefix {@code build.}, as often as it takes.
 */
public final class CsvJoinJob {

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

    private static final String UID = "csv-join";

    private final CsvHeader build;
    private final CsvHeader probe;
    private final Kind kind;

    public CsvJoinJob(CsvHeader build, CsvHeader probe, Kind kind) {
        this.build = build;
        this.probe = probe;
        this.kind = kind;
    }

    /** Names of the result's columns. */
    public List<String> columns() {
        List<String> columns = new ArrayList<>(probe.columns());
        Set<String> taken = new HashSet<>(columns);
        if (kind.keepsBuildColumns()) {
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

    /** How the join will be run, and why so. */
    public String explain(StreamExecutionEnvironment env) throws IOException {
        return join(env).explain();
    }

    /** Keys are integers where those of both files are, which is looked at here. */
    private GpuJoin.Keyed<String[], String[]> join(StreamExecutionEnvironment env)
            throws IOException {
        boolean integers = build.hasIntegerKeys() && probe.hasIntegerKeys();
        CsvKey.Type type = integers ? CsvKey.Type.INTEGER : CsvKey.Type.TEXT;
        CsvKey buildKey = new CsvKey(type, build.keyColumn());
        CsvKey probeKey = new CsvKey(type, probe.keyColumn());
        GpuJoin.Keyed<String[], String[]> join =
                GpuJoin.build(read(env, build, "build", false))
                        .probe(read(env, probe, "probe", true))
                        .where(buildKey, Types.LONG)
                        .equalTo(probeKey, Types.LONG)
                        .expectedBytes(Files.size(Path.of(build.file())))
                        .uid(UID);
        if (type == CsvKey.Type.TEXT) {
            join.matching((b, p) -> b[buildKey.column()].equals(p[probeKey.column()]));
        }
        return ofKind(join);
    }

    /** Begins the job that writes part files to a directory. */
    public JobClient start(StreamExecutionEnvironment env, Path parts) throws Exception {
        FileSink<String[]> sink =
                FileSink.forRowFormat(
                                new org.apache.flink.core.fs.Path(parts.toUri()), new CsvEncoder())
                        .withRollingPolicy(OnCheckpointRollingPolicy.build())
                        .build();
        int probeColumns = probe.size();
        int columns = columns().size();
        join(env)
                .apply(
                        (b, p) -> joined(b, p, probeColumns, columns),
                        BasicArrayTypeInfo.STRING_ARRAY_TYPE_INFO)
                .sinkTo(sink)
                .name("result")
                .uid(UID + "-result");
        return env.executeAsync(UID);
    }

    private GpuJoin.Keyed<String[], String[]> ofKind(GpuJoin.Keyed<String[], String[]> join) {
        return switch (kind) {
            case INNER -> join;
            case LEFT -> join.left();
            case RIGHT -> join.right();
            case FULL -> join.full();
            case SEMI -> join.semi();
            case ANTI -> join.anti();
        };
    }

    /** The fields of a result, null those of a record that is null. */
    private static String[] joined(String[] build, String[] probe, int probeColumns, int columns) {
        String[] fields = new String[columns];
        if (probe != null) {
            System.arraycopy(probe, 0, fields, 0, probeColumns);
        }
        if (build != null) {
            System.arraycopy(build, 0, fields, probeColumns, columns - probeColumns);
        }
        return fields;
    }

    /** Puts the header line and the part files together. */
    public void concatenate(Path parts, OutputStream out) throws IOException {
        out.write(new CsvEncoder().line(columns().toArray(String[]::new)));
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

    private static DataStream<String[]> read(
            StreamExecutionEnvironment env, CsvHeader header, String side, boolean facts) {
        CsvFormat format = new CsvFormat(header);
        FileSource<String[]> source =
                FileSource.forRecordStreamFormat(
                                format,
                                new org.apache.flink.core.fs.Path(Path.of(header.file()).toUri()))
                        .build();
        return env.fromSource(source, WatermarkStrategy.noWatermarks(), side)
                .uid(UID + "-" + side)
                .map(RowCounter.<String[]>ofRecords(facts))
                .returns(format.getProducedType())
                .name("count rows of " + side)
                .uid(UID + "-" + side + "-rows");
    }
}
