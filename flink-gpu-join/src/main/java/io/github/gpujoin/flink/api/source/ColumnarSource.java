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
import org.apache.flink.connector.file.src.ContinuousEnumerationSettings;
import org.apache.flink.connector.file.src.FileSource;
import org.apache.flink.connector.file.src.FileSource.FileSourceBuilder;
import org.apache.flink.connector.file.src.enumerate.NonSplittingRecursiveEnumerator;
import org.apache.flink.core.fs.Path;
import org.apache.flink.streaming.api.datastream.DataStreamSource;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.jspecify.annotations.Nullable;

/**
 * Reads files as columnar chunks, for {@code StarJoin.ofChunks} and {@code dimensionChunks}. It is
 * Flink's {@link FileSource} with a {@link ColumnarFormat}: it reads from any file system that
 * Flink has, files and directories with all files in them, several readers a file; a checkpoint
 * holds what was read, to the row.
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
    public FileSource<Chunk> build() {
        FileSourceBuilder<Chunk> source =
                FileSource.forBulkFileFormat(
                        new ColumnarBulkFormat(format, ColumnConditions.NONE), paths);
        if (interval != null) {
            // Flink 2.3's ContinuousFileSplitEnumerator drops all splits of a file but the first.
            return source.setFileEnumerator(NonSplittingRecursiveEnumerator::new)
                    .monitorContinuously(interval)
                    .build();
        }
        if (format.isSplittable()) {
            source.setFileEnumerator(FileSplits::new);
        }
        return source.build();
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
        DataStreamSource<Chunk> stream =
                env.fromSource(
                        build(),
                        WatermarkStrategy.noWatermarks(),
                        uid,
                        ChunkTypeInfo.of(format.schema()));
        stream.uid(uid);
        return stream;
    }

    /**
     * Adds the source to a job for one join, whose conditions its readers apply.
     *
     * @param env of the job
     * @param uid of the source, and its name
     * @param join identifies the join, which must be the only reader of the stream
     * @return the stream of chunks
     */
    @Internal
    public DataStreamSource<Chunk> toStream(
            StreamExecutionEnvironment env, String uid, String join) {
        ColumnarFileSource source =
                new ColumnarFileSource(
                        paths,
                        interval == null && format.isSplittable()
                                ? FileSplits::new
                                : NonSplittingRecursiveEnumerator::new,
                        format,
                        interval == null ? null : new ContinuousEnumerationSettings(interval),
                        join);
        DataStreamSource<Chunk> stream =
                env.fromSource(
                        source,
                        WatermarkStrategy.noWatermarks(),
                        uid,
                        ChunkTypeInfo.of(format.schema()));
        stream.uid(uid);
        return stream;
    }
}
