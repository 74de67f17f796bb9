// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.example;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.flink.api.source.ColumnarFormat;
import io.github.gpujoin.flink.api.source.ColumnarPosition;
import io.github.gpujoin.flink.api.source.ColumnarReader;
import io.github.gpujoin.flink.api.source.ColumnarSplit;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import org.apache.flink.core.fs.FSDataInputStream;
import org.jspecify.annotations.Nullable;

/** Binary records of 12 bytes: sensor (int, big-endian) and value (double). */
final class ReadingsFormat implements ColumnarFormat {

    private static final long serialVersionUID = 1L;
    private static final int RECORD_BYTES = 12;

    @Override
    public ChunkSchema schema() {
        return ChunkSchema.of(
                Column.of("sensor", ColumnType.INT32), Column.of("value", ColumnType.FLOAT64));
    }

    @Override
    public boolean isSplittable() {
        return true;
    }

    /** A record belongs to the split in which its first byte lies. */
    @Override
    public ColumnarReader open(ColumnarSplit split, ColumnarPosition from) throws IOException {
        long first = (split.offset() + RECORD_BYTES - 1) / RECORD_BYTES * RECORD_BYTES;
        FSDataInputStream file = split.path().getFileSystem().open(split.path());
        return new Readings(file, split, from.isStart() ? first : from.offset());
    }

    private final class Readings implements ColumnarReader {
        private final FSDataInputStream file;
        private final DataInputStream in;
        private final ColumnarSplit split;
        private final ChunkBuilder rows = new ChunkBuilder(schema(), 256 << 10);
        private long next;

        Readings(FSDataInputStream file, ColumnarSplit split, long first) throws IOException {
            this.file = file;
            this.split = split;
            this.next = first;
            file.seek(Math.min(first, split.fileBytes()));
            this.in = new DataInputStream(new BufferedInputStream(file, 64 << 10));
        }

        @Override
        public @Nullable Chunk read() throws IOException {
            for (; next < split.end() && !rows.isFull(); next += RECORD_BYTES) {
                try {
                    rows.putInt(0, in.readInt());
                    rows.putDouble(1, in.readDouble());
                } catch (EOFException e) {
                    throw new IOException(
                            "Record is cut off: file=" + split.path() + ", offset=" + next, e);
                }
                rows.endRow();
            }
            return rows.isEmpty()
                    ? null
                    : rows.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, 0);
        }

        @Override
        public ColumnarPosition position() {
            return new ColumnarPosition(next, 0);
        }

        @Override
        public void close() throws IOException {
            file.close();
        }
    }
}
