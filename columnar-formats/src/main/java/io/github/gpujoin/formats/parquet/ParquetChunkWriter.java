// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.thread.UninterruptibleWait;
import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.annotation.Internal;
import org.apache.flink.core.fs.Path;
import org.apache.parquet.column.ParquetProperties;
import org.apache.parquet.hadoop.ColumnChunkPageWriteStore;
import org.apache.parquet.hadoop.ParquetFileWriter;
import org.apache.parquet.hadoop.ParquetWriter;
import org.apache.parquet.schema.MessageType;

/**
 * Writes chunks to a Parquet file column by column, compressed with Snappy. Threads of its own
 * encode and compress a row group each, and append it to the file when it is complete, so rows and
 * row groups are in no particular order. Used by one thread at a time.
 *
 * <p>A closed writer that was not {@linkplain #finish() finished} leaves a file without a footer,
 * which no reader accepts.
 */
@Internal
public final class ParquetChunkWriter implements Closeable {

    /**
     * Bytes of chunks that complete a row group, so that a chunk of 4 MiB, of about 100,000 rows,
     * is one alone. Rows of one thread of a join have few distinct keys, those of two have twice as
     * many.
     */
    private static final long ROW_GROUP_BYTES = 3 << 20;

    private static final AtomicInteger NEXT_THREAD = new AtomicInteger();

    private final MessageType types;
    private final DictionaryAttempts attempts;
    private final ParquetFileWriter file;
    private final ExecutorService threads;
    private final int threadCount;

    /** Row groups that threads encode or wait for, the oldest first. */
    private final Deque<Future<?>> encoding = new ArrayDeque<>();

    private RowGroupRows rows = new RowGroupRows();
    private boolean isFinished;
    private boolean isClosed;

    /**
     * Creates the file, or overwrites it.
     *
     * @param types columns of the file, none of which is nested
     * @param threadCount threads that encode, at least 1
     * @throws IOException if the file cannot be created
     */
    public ParquetChunkWriter(Path path, MessageType types, int threadCount) throws IOException {
        this.types = Objects.requireNonNull(types, "types");
        if (threadCount < 1) {
            throw new IllegalArgumentException(
                    "Threads are not positive: threadCount=" + threadCount);
        }
        this.threadCount = threadCount;
        this.attempts = new DictionaryAttempts(types.getFieldCount());
        this.file =
                new ParquetFileWriter(
                        new FlinkOutputFile(Objects.requireNonNull(path, "path")),
                        types,
                        ParquetFileWriter.Mode.OVERWRITE,
                        ParquetWriter.DEFAULT_BLOCK_SIZE,
                        ParquetWriter.MAX_PADDING_SIZE_DEFAULT,
                        null,
                        ParquetProperties.builder().build());
        this.threads = Executors.newFixedThreadPool(threadCount, ParquetChunkWriter::newThread);
        file.start();
    }

    private static Thread newThread(Runnable task) {
        Thread thread = new Thread(task, "parquet-encoder-" + NEXT_THREAD.getAndIncrement());
        thread.setDaemon(true);
        return thread;
    }

    /**
     * Adds the rows of a chunk. Waits if each thread has a row group to encode, and a further one
     * waits.
     *
     * @param columns for each column of the file its column in the chunk, or -1 if it is null in
     *     all rows
     * @throws IOException if rows before could not be encoded or written
     * @throws InterruptedException if the thread is interrupted while it waits
     */
    public void write(Chunk chunk, int[] columns) throws IOException, InterruptedException {
        Objects.requireNonNull(chunk, "chunk");
        if (columns.length != types.getFieldCount()) {
            throw new IllegalArgumentException(
                    "Chunk and file differ in their columns: mapped=%d, columns=%d"
                            .formatted(columns.length, types.getFieldCount()));
        }
        rows.add(chunk.onHeap(), columns);
        if (rows.bytes() >= ROW_GROUP_BYTES) {
            encode();
        }
    }

    private void encode() throws IOException, InterruptedException {
        while (encoding.size() > threadCount) {
            await(encoding.remove());
        }
        RowGroupRows group = rows;
        rows = new RowGroupRows();
        encoding.add(threads.submit(() -> append(group)));
    }

    /** Runs in a thread of this writer. */
    private Void append(RowGroupRows group) throws IOException {
        try (RowGroupEncoder encoder = new RowGroupEncoder(types, attempts)) {
            ColumnChunkPageWriteStore pages = encoder.encode(group);
            synchronized (file) {
                file.startBlock(group.rowCount());
                pages.flushToFileWriter(file);
                file.endBlock();
            }
        }
        return null;
    }

    private static void await(Future<?> group) throws IOException, InterruptedException {
        try {
            group.get();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof IOException failure) {
                throw new IOException(failure.getMessage(), failure);
            }
            throw new IllegalStateException(
                    "Row group could not be encoded: " + e.getCause(), e.getCause());
        }
    }

    /**
     * Writes the remaining rows and the footer. No call may follow but {@link #close}.
     *
     * @throws IOException as {@link #write}
     * @throws InterruptedException as {@link #write}
     */
    public void finish() throws IOException, InterruptedException {
        if (rows.rowCount() > 0) {
            encode();
        }
        while (!encoding.isEmpty()) {
            await(encoding.remove());
        }
        file.end(Map.of());
        isFinished = true;
    }

    /** Stops the threads and closes the file. A second call has no effect. */
    @Override
    public void close() throws IOException {
        if (isClosed) {
            return;
        }
        isClosed = true;
        threads.shutdownNow();
        UninterruptibleWait.untilTerminated(threads);
        if (!isFinished) {
            file.close();
        }
    }
}
