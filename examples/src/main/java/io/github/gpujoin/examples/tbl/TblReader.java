// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.tbl;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import java.io.IOException;
import java.util.Arrays;
import org.apache.flink.connector.file.src.FileSourceSplit;
import org.apache.flink.connector.file.src.reader.BulkFormat;
import org.apache.flink.connector.file.src.util.SingletonResultIterator;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.Path;
import org.jspecify.annotations.Nullable;

/**
 * Reads the lines that begin in one byte range of a file, block by block, and hands them on as
 * chunks, each with the file offset of the line after it: the exact place to restart from. Used by
 * one thread at a time.
 */
final class TblReader implements BulkFormat.Reader<Chunk> {

    private static final int BLOCK_BYTES = 1 << 20;
    private static final int LONGEST_LINE_BYTES = 64 << 20;

    private final Path path;
    private final FSDataInputStream in;
    private final ChunkBuilder builder;
    private final TblLineParser parser;
    private final long endOffset;

    /** File bytes from {@link #blockOffset} on; [next, linesEnd) are whole lines. */
    private byte[] block;

    private long blockOffset;
    private int next;
    private int linesEnd;
    private int filled;
    private boolean endOfFile;

    private TblReader(
            TblTable table,
            ChunkSchema schema,
            int chunkBytes,
            FileSourceSplit split,
            long startOffset)
            throws IOException {
        this.path = split.path();
        this.builder = new ChunkBuilder(schema, chunkBytes);
        this.parser = new TblLineParser(table, builder);
        this.endOffset = split.offset() + split.length();
        this.blockOffset = startOffset;
        long rest = Math.max(0, split.fileSize() - startOffset);
        this.block = new byte[(int) Math.min(BLOCK_BYTES, rest + 2)];
        this.in = path.getFileSystem().open(path);
    }

    /** Reads a split from its start, that is, from the first line that begins in it. */
    static TblReader atSplitStart(
            TblTable table, ChunkSchema schema, int chunkBytes, FileSourceSplit split)
            throws IOException {
        if (split.offset() == 0) {
            return atLine(table, schema, chunkBytes, split, 0);
        }
        // A line begins at the offset only where the byte before it ends one.
        TblReader reader = atLine(table, schema, chunkBytes, split, split.offset() - 1);
        try {
            reader.skipToNextLine();
            return reader;
        } catch (IOException | RuntimeException e) {
            reader.close();
            throw e;
        }
    }

    /** Reads a split from the line that begins at the offset. */
    static TblReader atLine(
            TblTable table,
            ChunkSchema schema,
            int chunkBytes,
            FileSourceSplit split,
            long lineOffset)
            throws IOException {
        TblReader reader = new TblReader(table, schema, chunkBytes, split, lineOffset);
        try {
            if (lineOffset > 0 && lineOffset < reader.endOffset) {
                reader.in.seek(lineOffset);
            }
            return reader;
        } catch (IOException | RuntimeException e) {
            reader.close();
            throw e;
        }
    }

    @Override
    public BulkFormat.@Nullable RecordIterator<Chunk> readBatch() throws IOException {
        while (!builder.isFull() && hasLine()) {
            next = parseLine();
        }
        if (builder.isEmpty()) {
            return null;
        }
        Chunk chunk = builder.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, 0);
        SingletonResultIterator<Chunk> batch = new SingletonResultIterator<>();
        batch.set(chunk, blockOffset + next, 0);
        return batch;
    }

    private int parseLine() throws IOException {
        try {
            return parser.parse(block, next);
        } catch (TblLineParser.Malformed e) {
            throw new MalformedLineException(
                    path.getPath(), lineNumber(blockOffset + next), e.getMessage());
        }
    }

    private boolean hasLine() throws IOException {
        if (blockOffset + next >= endOffset) {
            return false;
        }
        while (next == linesEnd) {
            if (!readBlock()) {
                return false;
            }
        }
        return true;
    }

    private void skipToNextLine() throws IOException {
        while (next == linesEnd) {
            if (!readBlock()) {
                return;
            }
        }
        while (block[next] != '\n') {
            next++;
        }
        next++;
    }

    /** Moves the begun line to the front and reads on; false at the end of the file. */
    private boolean readBlock() throws IOException {
        if (endOfFile) {
            return false;
        }
        System.arraycopy(block, next, block, 0, filled - next);
        blockOffset += next;
        filled -= next;
        next = 0;
        linesEnd = 0;
        // One byte stays free for the line feed that the last line may lack.
        if (filled == block.length - 1) {
            growBlock();
        }
        int count = in.read(block, filled, block.length - 1 - filled);
        if (count < 0) {
            endOfFile = true;
            if (filled > 0) {
                block[filled++] = '\n';
            }
            linesEnd = filled;
            return filled > 0;
        }
        int scanned = filled;
        filled += count;
        for (int i = filled - 1; i >= scanned; i--) {
            if (block[i] == '\n') {
                linesEnd = i + 1;
                break;
            }
        }
        return true;
    }

    private void growBlock() throws IOException {
        if (block.length >= LONGEST_LINE_BYTES) {
            throw new MalformedLineException(
                    path.getPath(),
                    lineNumber(blockOffset),
                    "expected a line of at most " + LONGEST_LINE_BYTES + " bytes");
        }
        block = Arrays.copyOf(block, 2 * block.length);
    }

    /** Counted only when a message needs it. */
    private long lineNumber(long lineOffset) throws IOException {
        long number = 1;
        byte[] buffer = new byte[BLOCK_BYTES];
        try (FSDataInputStream again = path.getFileSystem().open(path)) {
            for (long left = lineOffset; left > 0; ) {
                int count = again.read(buffer, 0, (int) Math.min(left, buffer.length));
                if (count < 0) {
                    break;
                }
                for (int i = 0; i < count; i++) {
                    number += buffer[i] == '\n' ? 1 : 0;
                }
                left -= count;
            }
        }
        return number;
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
