// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.avro;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.flink.api.source.ColumnarPosition;
import io.github.gpujoin.flink.api.source.ColumnarReader;
import io.github.gpujoin.flink.api.source.ColumnarSplit;
import io.github.gpujoin.formats.FileColumns;
import io.github.gpujoin.formats.FileSchemaException;
import io.github.gpujoin.formats.record.AvroRecords;
import io.github.gpujoin.formats.record.RowWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;
import org.apache.avro.file.DataFileConstants;
import org.apache.avro.file.DataFileReader;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.flink.core.fs.Path;
import org.jspecify.annotations.Nullable;

/** Reads the blocks of one split. Used by one thread at a time. */
final class AvroReader implements ColumnarReader {

    private final AvroInput input;
    private final DataFileReader<Void> file;
    private final boolean isSnappy;
    private final ColumnarSplit split;
    private final ChunkBuilder builder;
    private final AvroRecords records;
    private final RowWriter row;

    /** Of the current block. */
    private long blockOffset = ColumnarPosition.START.offset();

    private long blockRows;
    private long rowsRead;

    /** The rows that are left of the block: an array, the index of the next one, and the end. */
    private byte[] block = new byte[0];

    private int blockAt;
    private int blockEnd;

    private AvroReader(
            AvroInput input,
            DataFileReader<Void> file,
            ChunkSchema schema,
            int chunkBytes,
            ColumnarSplit split)
            throws FileSchemaException {
        this.input = input;
        this.file = file;
        this.isSnappy =
                DataFileConstants.SNAPPY_CODEC.equals(file.getMetaString(DataFileConstants.CODEC));
        this.split = split;
        this.builder = new ChunkBuilder(schema, chunkBytes);
        this.row = new RowWriter(builder);
        this.records = records(file.getSchema(), schema, split.path());
    }

    private static AvroRecords records(Schema record, ChunkSchema schema, Path file)
            throws FileSchemaException {
        try {
            for (Column column : schema.columns()) {
                AvroColumn source = AvroColumn.of(AvroColumn.require(record, column.name()));
                FileColumns.requireReadable(column, source.type(), "Avro");
            }
            return AvroRecords.of(record, null, schema);
        } catch (IllegalArgumentException e) {
            throw new FileSchemaException(e, file);
        }
    }

    /** Opens a file, and reads its header. Closes the input if that fails. */
    static DataFileReader<Void> open(AvroInput input, Path path) throws IOException {
        try {
            DataFileReader<Void> file = new DataFileReader<>(input, new GenericDatumReader<>());
            if (file.getSchema().getType() != Schema.Type.RECORD) {
                throw new AvroRuntimeException("rows are no records");
            }
            return file;
        } catch (IOException | RuntimeException e) {
            input.close();
            throw new IOException(
                    "Not an Avro container file, or damaged: file="
                            + path
                            + ", cause="
                            + e.getMessage(),
                    e);
        }
    }

    /**
     * @throws FileSchemaException if the file lacks a field, or has it with another type
     * @throws IOException if the file cannot be read
     */
    static AvroReader open(
            ChunkSchema schema, int chunkBytes, ColumnarSplit split, ColumnarPosition from)
            throws IOException {
        AvroInput input = new AvroInput(split.path(), split.fileBytes());
        DataFileReader<Void> file = open(input, split.path());
        try {
            AvroReader reader = new AvroReader(input, file, schema, chunkBytes, split);
            reader.startAt(from);
            return reader;
        } catch (IllegalArgumentException e) {
            file.close();
            throw new IOException(e.getMessage() + ", file=" + split.path(), e);
        } catch (IOException | RuntimeException e) {
            file.close();
            throw e;
        }
    }

    private void startAt(ColumnarPosition from) throws IOException {
        if (from.isStart()) {
            file.sync(split.offset());
            return;
        }
        file.seek(from.offset());
        if (from.rows() > 0 && startBlock()) {
            try {
                for (; rowsRead < from.rows(); rowsRead++) {
                    decodeRow();
                    builder.discardRow();
                }
            } catch (IOException | RuntimeException e) {
                throw damaged(e);
            }
        }
    }

    @Override
    public @Nullable Chunk read() throws IOException {
        while (!builder.isFull() && (rowsRead < blockRows || startBlock())) {
            try {
                decodeRows();
            } catch (IOException | RuntimeException e) {
                throw damaged(e);
            }
        }
        return builder.isEmpty()
                ? null
                : builder.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, 0);
    }

    /** Starts the next block of the split; returns false if there is none. */
    private boolean startBlock() throws IOException {
        do {
            if (file.pastSync(split.end())) {
                return false;
            }
            blockOffset = file.previousSync();
            rowsRead = 0;
            blockRows = 0;
        } while (!hasRows());
        try {
            ByteBuffer bytes = file.nextBlock();
            blockRows = file.getBlockCount();
            block = bytes.array();
            blockAt = bytes.arrayOffset() + bytes.position();
            blockEnd = blockAt + bytes.remaining();
            return true;
        } catch (IOException | RuntimeException e) {
            throw damaged(e);
        }
    }

    /** Loads the block; passes it and returns false if it has no rows, which Avro allows. */
    private boolean hasRows() throws IOException {
        try {
            long end = input.requireBlock(blockOffset, isSnappy);
            boolean hasRows = file.hasNext();
            if (hasRows && file.getBlockCount() < 0) {
                throw new AvroRuntimeException("Block has a negative number of rows");
            }
            if (!hasRows) {
                file.seek(end);
            }
            return hasRows;
        } catch (IOException | RuntimeException e) {
            throw damaged(e);
        }
    }

    private void decodeRows() throws IOException {
        for (; rowsRead < blockRows && !builder.isFull(); rowsRead++) {
            decodeRow();
            row.end();
        }
        if (rowsRead >= blockRows && blockAt < blockEnd) {
            throw new AvroRuntimeException("Block has bytes after its last row");
        }
    }

    private void decodeRow() throws IOException {
        row.begin();
        blockAt = records.decode(block, blockAt, blockEnd, row);
    }

    private IOException damaged(Exception e) {
        return new IOException(
                "Cannot read a block of an Avro file: file="
                        + split.path()
                        + ", offset="
                        + blockOffset
                        + ", rowsRead="
                        + rowsRead
                        + ", cause="
                        + e.getMessage(),
                e);
    }

    @Override
    public ColumnarPosition position() {
        return new ColumnarPosition(blockOffset, rowsRead);
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
