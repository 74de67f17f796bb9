// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api.source;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.api.data.ChunkTypeInfo;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.Objects;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.file.src.FileSourceSplit;
import org.apache.flink.connector.file.src.reader.BulkFormat;
import org.apache.flink.connector.file.src.util.CheckpointedPosition;
import org.apache.flink.connector.file.src.util.SingletonResultIterator;
import org.jspecify.annotations.Nullable;

/** Reads files of a columnar format in Flink's file source; a batch is a chunk. */
final class ColumnarBulkFormat implements BulkFormat<Chunk, FileSourceSplit> {

    private static final long serialVersionUID = 1L;

    /** Longest wait for conditions in one call, since a reader stops between two calls. */
    private static final int WAIT_MS = 10;

    private final ColumnarFormat format;
    private final ColumnConditions conditions;

    /** Null before the format is in a reader. */
    private final transient @Nullable ReadProgress progress;

    /** Creates the format as a source is serialized with it, which only describes its rows. */
    ColumnarBulkFormat(ColumnarFormat format) {
        this(format, ColumnConditions.NONE, null);
    }

    /** Creates the format of a reader. */
    ColumnarBulkFormat(
            ColumnarFormat format, ColumnConditions conditions, @Nullable ReadProgress progress) {
        this.format = format;
        this.conditions = conditions;
        this.progress = progress;
    }

    @Override
    public Reader<Chunk> createReader(Configuration config, FileSourceSplit split)
            throws IOException {
        return open(split, ColumnarPosition.START);
    }

    @Override
    public Reader<Chunk> restoreReader(Configuration config, FileSourceSplit split)
            throws IOException {
        CheckpointedPosition position = split.getReaderPosition().orElseThrow();
        return open(
                split,
                new ColumnarPosition(position.getOffset(), position.getRecordsAfterOffset()));
    }

    private Reader<Chunk> open(FileSourceSplit split, ColumnarPosition from) throws IOException {
        ColumnarSplit part =
                new ColumnarSplit(split.path(), split.offset(), split.length(), split.fileSize());
        return new ChunkBatches(
                format.open(part, from, conditions),
                conditions,
                Objects.requireNonNull(progress, "progress"),
                split.length());
    }

    @Override
    public boolean isSplittable() {
        return format.isSplittable();
    }

    @Override
    public TypeInformation<Chunk> getProducedType() {
        return ChunkTypeInfo.of(format.schema());
    }

    private static final class ChunkBatches implements Reader<Chunk> {

        private final ColumnarReader reader;
        private final ColumnConditions conditions;
        private final ReadProgress progress;
        private final long splitBytes;
        private long rowsSkipped;

        ChunkBatches(
                ColumnarReader reader,
                ColumnConditions conditions,
                ReadProgress progress,
                long splitBytes) {
            this.reader = reader;
            this.conditions = conditions;
            this.progress = progress;
            this.splitBytes = splitBytes;
        }

        @Override
        public @Nullable RecordIterator<Chunk> readBatch() throws IOException {
            if (!awaitConditions()) {
                return new SingletonResultIterator<>();
            }
            Chunk chunk = reader.read();
            progress.rowsSkipped().inc(reader.rowsSkipped() - rowsSkipped);
            rowsSkipped = reader.rowsSkipped();
            if (chunk == null) {
                progress.splitBytesRead().inc(splitBytes);
                return null;
            }
            SingletonResultIterator<Chunk> batch = new SingletonResultIterator<>();
            if (chunk.rowCount() == 0) {
                return batch;
            }
            progress.rowsRead().inc(chunk.rowCount());
            ColumnarPosition next = reader.position();
            batch.set(chunk, next.offset(), next.rows());
            return batch;
        }

        /** Waits for conditions that are expected; returns false if they still are. */
        private boolean awaitConditions() throws InterruptedIOException {
            for (int ms = 0; conditions.areExpected(); ms++) {
                if (ms == WAIT_MS) {
                    return false;
                }
                try {
                    Thread.sleep(1);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    throw new InterruptedIOException("Interrupted while a join loads");
                }
            }
            return true;
        }

        @Override
        public void close() throws IOException {
            reader.close();
        }
    }
}
