// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.files;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.examples.run.RowCounter;
import io.github.gpujoin.flink.api.ChunkJoin;
import io.github.gpujoin.flink.api.data.ChunkTypeInfo;
import io.github.gpujoin.flink.api.source.ColumnarSource;
import io.github.gpujoin.formats.parquet.ParquetFormat;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.DecimalLogicalTypeAnnotation;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;
import org.apache.parquet.schema.Type;
import org.apache.parquet.schema.Types;
import org.jspecify.annotations.Nullable;

/**
 * A join of two Parquet files to a third that reads, joins and writes columns of chunks instead of
 * rows. Columns of the result have the types of the inputs.
 */
final class ParquetJoin {

    /** Most digits of a decimal that chunks represent as an integer. */
    private static final int MAX_LONG_DIGITS = 18;

    private final FileJoinJob job;
    private final ParquetFormat build;
    private final ParquetFormat probe;

    /** Columns of the result. */
    private final MessageType types;

    private ParquetJoin(
            FileJoinJob job, ParquetFormat build, ParquetFormat probe, MessageType types) {
        this.job = job;
        this.build = build;
        this.probe = probe;
        this.types = types;
    }

    /**
     * Returns the join of a job, or null if a file has another format, or chunks do not represent a
     * column or compare the keys.
     */
    static @Nullable ParquetJoin of(FileJoinJob job) throws IOException {
        if (job.build().format() != FileFormat.PARQUET
                || job.probe().format() != FileFormat.PARQUET
                || job.result() != FileFormat.PARQUET && job.result() != null) {
            return null;
        }
        List<Type> build = ParquetRecordFormat.types(job.build().path()).getFields();
        List<Type> probe = ParquetRecordFormat.types(job.probe().path()).getFields();
        Type buildKey = build.get(job.build().keyColumn());
        Type probeKey = probe.get(job.probe().keyColumn());
        boolean isSupported =
                areComparable(job, buildKey, probeKey)
                        && build.stream().allMatch(ParquetJoin::isSupported)
                        && probe.stream().allMatch(ParquetJoin::isSupported);
        return isSupported
                ? new ParquetJoin(
                        job,
                        ParquetFormat.ofFile(flinkPath(job.build().path())),
                        ParquetFormat.ofFile(flinkPath(job.probe().path())),
                        types(job, build, probe))
                : null;
    }

    /** Chunks convert the timestamps of INT96, so that they would have another type. */
    private static boolean isSupported(Type column) {
        return physicalType(column) != PrimitiveTypeName.INT96;
    }

    private static boolean areComparable(FileJoinJob job, Type build, Type probe) {
        return switch (job.keys()) {
            case INTEGER, TEXT, BYTES, BOOLEAN, DATE -> true;
            case TIMESTAMP, INSTANT ->
                    // null for INT96
                    Objects.equals(
                            build.getLogicalTypeAnnotation(), probe.getLogicalTypeAnnotation());
            case DECIMAL -> isNarrow(build) && isNarrow(probe) && scale(build) == scale(probe);
            case FLOAT, DOUBLE, TIME -> false;
        };
    }

    /** Whether chunks represent a decimal column as integers. */
    private static boolean isNarrow(Type decimal) {
        return annotation(decimal).getPrecision() <= MAX_LONG_DIGITS;
    }

    private static int scale(Type decimal) {
        return annotation(decimal).getScale();
    }

    private static DecimalLogicalTypeAnnotation annotation(Type decimal) {
        return (DecimalLogicalTypeAnnotation) decimal.getLogicalTypeAnnotation();
    }

    private static PrimitiveTypeName physicalType(Type column) {
        return column.asPrimitiveType().getPrimitiveTypeName();
    }

    // ------------------------------------------------------------------ result

    private static MessageType types(FileJoinJob job, List<Type> build, List<Type> probe) {
        List<String> names = job.columns().getFieldNames();
        List<Type> types = new ArrayList<>(probe);
        types.addAll(build);
        return named(types.subList(0, names.size()), names);
    }

    /**
     * Returns columns of the types with other names. All are optional, so that the schema of a
     * result does not depend on its rows.
     */
    static MessageType named(List<Type> types, List<String> names) {
        List<Type> named = new ArrayList<>();
        for (int i = 0; i < names.size(); i++) {
            named.add(optional(types.get(i), names.get(i)));
        }
        return new MessageType("joined", named);
    }

    private static Type optional(Type from, String name) {
        LogicalTypeAnnotation annotation = from.getLogicalTypeAnnotation();
        if (annotation instanceof DecimalLogicalTypeAnnotation && isNarrow(from)) {
            PrimitiveTypeName integer =
                    physicalType(from) == PrimitiveTypeName.INT32
                            ? PrimitiveTypeName.INT32
                            : PrimitiveTypeName.INT64;
            return Types.optional(integer).as(annotation).named(name);
        }
        return Types.optional(physicalType(from))
                .length(from.asPrimitiveType().getTypeLength())
                .as(annotation)
                .named(name);
    }

    /** Adds the join to a job. Its only part file is written to a directory. */
    void addTo(StreamExecutionEnvironment env, Path parts, String uid) {
        JoinedParquetFile.Factory file =
                JoinedParquetFile.Factory.of(parts, types, probe.schema().size());
        join(env, uid)
                .write(file)
                .sinkTo(new DiscardingSink<>())
                .name("result rows")
                .uid(uid + "-result-rows");
    }

    ChunkJoin join(StreamExecutionEnvironment env, String uid) {
        ChunkJoin join =
                ChunkJoin.of(
                                read(env, job.probe(), probe, uid + "-probe", true),
                                read(env, job.build(), build, uid + "-build", false))
                        .on(List.of(keyOf(job.probe())), List.of(keyOf(job.build())))
                        .uid(uid);
        if (job.nullSafe()) {
            join.nullSafe();
        }
        return switch (job.kind()) {
            case INNER -> join;
            case LEFT -> join.left();
            case RIGHT -> join.right();
            case FULL -> join.full();
            case SEMI -> join.semi();
            case ANTI -> join.anti();
        };
    }

    private static String keyOf(RecordFile file) {
        return file.columns().getFieldNames().get(file.keyColumn());
    }

    private static DataStream<Chunk> read(
            StreamExecutionEnvironment env,
            RecordFile file,
            ParquetFormat format,
            String uid,
            boolean isProbe) {
        // A reader decodes faster than two threads of a join partition, and passes chunks by
        // reference if it is the only one of its file.
        int readers = Math.max(1, env.getParallelism() / 2);
        return ColumnarSource.of(format, flinkPath(file.path()))
                .toStream(env, uid)
                .setParallelism(readers)
                .map(isProbe ? RowCounter.ofFacts() : RowCounter.ofDimension())
                .returns(ChunkTypeInfo.of(format.schema()))
                .name("count rows")
                .uid(uid + "-rows")
                .setParallelism(readers);
    }

    private static org.apache.flink.core.fs.Path flinkPath(Path path) {
        return new org.apache.flink.core.fs.Path(path.toUri());
    }
}
