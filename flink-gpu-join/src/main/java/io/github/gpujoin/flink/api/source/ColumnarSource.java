// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api.source;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.api.data.ChunkTypeInfo;
import java.time.Duration;
import java.util.Objects;
import org.apache.flink.annotation.Internal;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.connector.file.src.ContinuousEnumerationSettings;
import org.apache.flink.connector.file.src.FileSourceSplit;
import org.apache.flink.connector.file.src.PendingSplitsCheckpoint;
import org.apache.flink.connector.file.src.enumerate.NonSplittingRecursiveEnumerator;
import org.apache.flink.core.fs.Path;
import org.apache.flink.metrics.MetricGroup;
import org.apache.flink.streaming.api.datastream.DataStreamSource;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.function.SerializableFunction;
import org.jspecify.annotations.Nullable;

/**
 * Reads files as columnar chunks, for {@code StarJoin.ofChunks} and {@code dimensionChunks}. It is
 * Flink's {@link org.apache.flink.connector.file.src.FileSource} with a {@link ColumnarFormat}: it
 * reads from any file system that Flink has, files and directories with all files in them, several
 * readers a file; a checkpoint holds what was read, to the row.
 *
 * <pre>{@code
 * DataStream<Chunk> facts =
 *         ColumnarSource.of(ParquetFormat.of(schema), new Path("s3://bucket/sales"))
 *                 .watch(Duration.ofSeconds(10))
 *                 .toStream(env, "sales");
 * }</pre>
 */
@PublicEvolving
public final class ColumnarSource {

    private final ColumnarFormat format;
    private final Path[] paths;
    private final @Nullable Duration interval;

    private ColumnarSource(ColumnarFormat format, Path[] paths, @Nullable Duration interval) {
        this.format = format;
        this.paths = paths;
        this.interval = interval;
    }

    /**
     * Creates a source that ends with its files.
     *
     * @param format of all files
     * @param paths of files and directories, at least one
     * @return the source
     */
    public static ColumnarSource of(ColumnarFormat format, Path... paths) {
        Objects.requireNonNull(format, "format");
        Objects.requireNonNull(paths, "paths");
        for (Path path : paths) {
            Objects.requireNonNull(path, "path");
        }
        if (paths.length == 0) {
            throw new IllegalArgumentException("No paths to read: name a file or a directory.");
        }
        return new ColumnarSource(format, paths.clone(), null);
    }

    /**
     * Returns a source that never ends: it looks for new files in the directories again and again.
     * A file must be complete when it appears, and one reader reads all of it.
     *
     * @param interval between two looks
     * @return the source
     */
    public ColumnarSource watch(Duration interval) {
        Objects.requireNonNull(interval, "interval");
        if (interval.isZero() || interval.isNegative()) {
            throw new IllegalArgumentException("Interval is not positive: interval=" + interval);
        }
        return new ColumnarSource(format, paths, interval);
    }

    /**
     * Returns the source for {@link StreamExecutionEnvironment#fromSource}.
     *
     * @return the source of Flink
     */
    public Source<Chunk, FileSourceSplit, PendingSplitsCheckpoint<FileSourceSplit>> build() {
        return build(metrics -> ColumnConditions.NONE);
    }

    private ColumnarFileSource build(
            SerializableFunction<MetricGroup, ColumnConditions> conditions) {
        // Flink 2.3's ContinuousFileSplitEnumerator drops all splits of a file but the first.
        boolean splits = interval == null && format.isSplittable();
        return new ColumnarFileSource(
                paths,
                splits ? FileSplits::new : NonSplittingRecursiveEnumerator::new,
                format,
                interval == null ? null : new ContinuousEnumerationSettings(interval),
                conditions);
    }

    /**
     * Adds the source to a job, without watermarks.
     *
     * @param env of the job
     * @param uid of the source, and its name
     * @return the stream of chunks
     */
    public DataStreamSource<Chunk> toStream(StreamExecutionEnvironment env, String uid) {
        Objects.requireNonNull(env, "env");
        Objects.requireNonNull(uid, "uid");
        return toStream(env, uid, metrics -> ColumnConditions.NONE);
    }

    /**
     * Adds the source to a job for one join, whose conditions its readers apply.
     *
     * @param env of the job
     * @param uid of the source, and its name
     * @param conditions returns the conditions of the join, which must be the only reader of the
     *     stream, for a reader with the metrics
     * @return the stream of chunks
     */
    @Internal
    public DataStreamSource<Chunk> toStream(
            StreamExecutionEnvironment env,
            String uid,
            SerializableFunction<MetricGroup, ColumnConditions> conditions) {
        DataStreamSource<Chunk> stream =
                env.fromSource(
                        build(conditions),
                        WatermarkStrategy.noWatermarks(),
                        uid,
                        ChunkTypeInfo.of(format.schema()));
        stream.uid(uid);
        return stream;
    }
}
