// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.arrow;

import io.github.gpujoin.formats.FileColumns;
import io.github.gpujoin.formats.FileSchemaException;
import java.io.Closeable;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.apache.arrow.compression.CommonsCompressionFactory;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.dictionary.Dictionary;
import org.apache.arrow.vector.ipc.ArrowFileReader;
import org.apache.arrow.vector.ipc.ArrowReader;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.apache.arrow.vector.ipc.message.ArrowBlock;
import org.apache.arrow.vector.types.pojo.DictionaryEncoding;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.Path;
import org.jspecify.annotations.Nullable;

/** The record batches of a file or stream, loaded one at a time. Used by one thread at a time. */
final class ArrowBatches implements Closeable {

    /** Of the buffers of a batch and of dictionaries, more than a damaged length is allowed. */
    private static final long MAX_BYTES = 2L << 30;

    private static final byte[] FILE_MAGIC = {'A', 'R', 'R', 'O', 'W', '1'};

    private final Path path;
    private final ArrowReader reader;
    private final BufferAllocator allocator;

    /** Of a file; null if this is a stream. */
    private final @Nullable List<ArrowBlock> blocks;

    private final long fileBytes;
    private int nextBlock;
    private long offset;

    private ArrowBatches(
            Path path,
            long fileBytes,
            ArrowReader reader,
            BufferAllocator allocator,
            @Nullable List<ArrowBlock> blocks) {
        this.path = path;
        this.fileBytes = fileBytes;
        this.reader = reader;
        this.allocator = allocator;
        this.blocks = blocks;
    }

    static boolean isFile(Path path) throws IOException {
        try (FSDataInputStream in = path.getFileSystem().open(path)) {
            return Arrays.equals(in.readNBytes(FILE_MAGIC.length), FILE_MAGIC);
        }
    }

    static ArrowBatches open(Path path, long fileBytes, boolean isStream) throws IOException {
        ArrowInput input = new ArrowInput(path, fileBytes);
        BufferAllocator allocator = new RootAllocator(MAX_BYTES);
        ArrowReader reader =
                isStream
                        ? new ArrowStreamReader(
                                new ArrowMessages(input, allocator),
                                allocator,
                                CommonsCompressionFactory.INSTANCE)
                        : new ArrowFileReader(input, allocator, CommonsCompressionFactory.INSTANCE);
        try {
            reader.getVectorSchemaRoot();
            List<ArrowBlock> blocks =
                    reader instanceof ArrowFileReader file ? file.getRecordBlocks() : null;
            return new ArrowBatches(path, fileBytes, reader, allocator, blocks);
        } catch (IOException | RuntimeException e) {
            reader.close();
            allocator.close();
            throw new IOException(
                    "Not an Arrow %s, or damaged: file=%s, cause=%s"
                            .formatted(isStream ? "stream" : "file", path, e.getMessage()),
                    e);
        }
    }

    List<String> names() throws IOException {
        return reader.getVectorSchemaRoot().getSchema().getFields().stream()
                .map(Field::getName)
                .toList();
    }

    /**
     * Returns a column, whose values are those of the batch loaded last.
     *
     * @throws FileSchemaException if there is none
     * @throws IllegalArgumentException if chunks have no type for it
     */
    ArrowColumn column(String name) throws IOException {
        FieldVector vector = reader.getVectorSchemaRoot().getVector(name);
        if (vector == null) {
            throw FileColumns.absent("Column is not in the Arrow file", name, names(), path);
        }
        DictionaryEncoding encoding = vector.getField().getDictionary();
        Dictionary dictionary = encoding == null ? null : reader.lookup(encoding.getId());
        return ArrowColumn.of(vector, dictionary == null ? null : dictionary.getVector());
    }

    /**
     * Loads the next batch that starts in a part of the file.
     *
     * @param from offset of the first byte of the part
     * @param end offset after its last byte
     * @return false if there is none
     */
    boolean next(long from, long end) throws IOException {
        try {
            if (blocks == null) {
                long before = reader.bytesRead();
                boolean isLoaded = reader.loadNextBatch();
                offset = isLoaded ? before : offset;
                return isLoaded;
            }
            while (nextBlock < blocks.size()) {
                ArrowBlock block = blocks.get(nextBlock++);
                if (block.getOffset() >= from && block.getOffset() < end) {
                    offset = block.getOffset();
                    load(block);
                    return true;
                }
            }
            return false;
        } catch (IOException | RuntimeException e) {
            throw damaged(e);
        } catch (LinkageError e) {
            throw new IOException(
                    "Classes to decompress Arrow buffers are missing or too old: file=%s, missing=%s"
                            .formatted(path, e.getMessage()),
                    e);
        }
    }

    private void load(ArrowBlock block) throws IOException {
        long rest = fileBytes - block.getOffset();
        if (block.getMetadataLength() < 0
                || block.getBodyLength() < 0
                || block.getMetadataLength() > rest
                || block.getBodyLength() > rest - block.getMetadataLength()) {
            throw new IOException("Record batch ends behind the file: fileBytes=" + fileBytes);
        }
        ((ArrowFileReader) reader).loadRecordBatch(block);
    }

    /** Returns the offset of the batch loaded last. */
    long offset() {
        return offset;
    }

    int rowCount() throws IOException {
        return reader.getVectorSchemaRoot().getRowCount();
    }

    IOException damaged(Exception e) {
        return new IOException(
                "Cannot read a record batch of an Arrow file: file=%s, offset=%d, cause=%s"
                        .formatted(path, offset, e.getMessage()),
                e);
    }

    @Override
    public void close() throws IOException {
        try {
            reader.close();
        } finally {
            allocator.close();
        }
    }
}
