// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api.source;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.api.data.ChunkTypeInfo;
import java.io.IOException;
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

    private final ColumnarFormat format;
    private final ColumnConditions conditions;

    ColumnarBulkFormat(ColumnarFormat format, ColumnConditions conditions) {
        this.format = format;
        this.conditions = conditions;
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
        return new ChunkBatches(format.open(part, from, conditions));
    }

    @Override
    public boolean isSplittable() {
        return format.isSplittable();
    }

    @Override
    public TypeInformation<Chunk> getProducedType() {
        return ChunkTypeInfo.of(format.schema());
    }

    private record ChunkBatches(ColumnarReader reader) implements Reader<Chunk> {

        @Override
        public @Nullable RecordIterator<Chunk> readBatch() throws IOException {
            Chunk chunk = reader.read();
            if (chunk == null) {
                return null;
            }
            ColumnarPosition next = reader.position();
            SingletonResultIterator<Chunk> batch = new SingletonResultIterator<>();
            batch.set(chunk, next.offset(), next.rows());
            return batch;
        }

        @Override
        public void close() throws IOException {
            reader.close();
        }
    }
}
