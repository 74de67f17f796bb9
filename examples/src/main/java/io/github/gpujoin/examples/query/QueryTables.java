// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.query;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.RowView;
import io.github.gpujoin.examples.files.TableFiles;
import io.github.gpujoin.examples.files.TableFormat;
import io.github.gpujoin.examples.run.RowCounter;
import io.github.gpujoin.examples.tbl.TblTable;
import io.github.gpujoin.flink.api.StarJoin;
import io.github.gpujoin.flink.api.data.ChunkTypeInfo;
import io.github.gpujoin.flink.api.source.ColumnarSource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.jspecify.annotations.Nullable;

/** The tables that one query reads: sources of chunks over the files of a directory. */
public final class QueryTables {

    private static final long BYTES_PER_READER = 2 << 20;

    private final StreamExecutionEnvironment env;
    private final Path directory;
    private final String label;

    /** Null where {@code .tbl} files are read. */
    private final @Nullable TableFiles files;

    private long expectedRows;
    private long unwatchedFacts;

    /**
     * @param format of the files; null for {@code .tbl}
     * @param label prefix of the sources' uids
     */
    public QueryTables(
            StreamExecutionEnvironment env,
            Path directory,
            @Nullable TableFormat format,
            String label) {
        this.env = env;
        this.directory = directory;
        this.files = format == null ? null : new TableFiles(directory, format);
        this.label = label;
    }

    /** Prefix of the uids of the query's operators. */
    String label() {
        return label;
    }

    /**
     * Starts a star join of the table that the query's rate is counted in. If readers of its format
     * apply the join's conditions, no operator counts the rows.
     */
    StarJoin<RowView> star(TblTable table, String... columns) {
        ChunkSchema schema = table.project(columns);
        if (files == null || !files.appliesConditions()) {
            return StarJoin.ofChunks(facts(table, columns));
        }
        unwatchedFacts += files.estimateRows(table);
        return StarJoin.ofSource(env, files.source(table, schema), label + "-" + table.name());
    }

    /** Rows of facts that no counter sees. */
    long unwatchedFacts() {
        return unwatchedFacts;
    }

    /** The table that the query's rate is counted in. */
    DataStream<Chunk> facts(TblTable table, String... columns) {
        return read(table, env.getParallelism(), RowCounter.ofFacts(), columns);
    }

    /** A small table is read by few readers: each costs a channel to every subtask of the join. */
    DataStream<Chunk> dimension(TblTable table, String... columns) {
        long readers = 1 + bytes(table) / BYTES_PER_READER;
        int parallelism = (int) Math.min(env.getParallelism(), readers);
        return read(table, parallelism, RowCounter.ofDimension(), columns);
    }

    /** Length of the table's file, as what it will take in memory. */
    long bytes(TblTable table) {
        try {
            return Files.size(file(table));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Rows of all tables read so far, as their files' first lines let expect. */
    public long expectedRows() {
        return expectedRows;
    }

    private DataStream<Chunk> read(
            TblTable table, int parallelism, RowCounter<Chunk> counter, String... columns) {
        ChunkSchema schema = table.project(columns);
        String uid = label + "-" + table.name();
        expectedRows +=
                files == null ? RowCounter.estimate(file(table)) : files.estimateRows(table);
        DataStream<Chunk> chunks =
                files == null
                        ? readTbl(table, schema, parallelism, uid)
                        : files.read(env, table, schema, parallelism, uid);
        return chunks.map(counter)
                .returns(ChunkTypeInfo.of(schema))
                .name("count rows of " + table.name())
                .uid(uid + "-rows")
                .setParallelism(parallelism);
    }

    private Path file(TblTable table) {
        return files == null ? directory.resolve(table.fileName()) : files.file(table);
    }

    private DataStream<Chunk> readTbl(
            TblTable table, ChunkSchema schema, int parallelism, String uid) {
        return ColumnarSource.of(
                        table.format(schema),
                        new org.apache.flink.core.fs.Path(file(table).toUri()))
                .toStream(env, uid)
                .name(table.name())
                .setParallelism(parallelism);
    }
}
