// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.bulk;

import io.github.gpujoin.core.engine.EngineUnavailableException;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.cpu.SpillFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;

/**
 * Tuples that one thread wrote to a file, in blocks. Threads may read blocks at the same time once
 * all are written and {@linkplain #flush() flushed}. The file is deleted when it is closed.
 *
 * <pre>
 *  segment: block, block, ...      of one partition
 *  block:   int32 lengthBytes      of the block, a multiple of 8
 *           int32 count
 *           tuple[count]
 *           what each tuple refers to out of line, in the order of the tuples; padding to 8
 * </pre>
 */
final class SpillFile implements AutoCloseable {

    static final int HEADER_BYTES = 8;

    /** Longest block, unless one tuple is longer. */
    private static final int MAX_BLOCK_BYTES = 256 << 10;

    /** The channel copies bytes through native memory as large as one read or write. */
    private static final int BUFFER_BYTES = 256 << 10;

    /**
     * Blocks of one partition that lie one after another in the file.
     *
     * @param position of the first byte in the file
     * @param count of tuples
     */
    record Segment(SpillFile file, long position, long lengthBytes, long count) {

        /** Returns the most bytes that the tuples refer to out of line. */
        long outOfLineBytes() {
            return file.layout.hasOutOfLine() ? lengthBytes - count * file.layout.tupleBytes() : 0;
        }
    }

    private final TupleLayout layout;
    private final FileChannel channel;
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private int bufferedBytes;
    private long writtenBytes;
    private int longestBlockBytes;

    SpillFile(Path directory, TupleLayout layout) {
        this.layout = layout;
        try {
            this.channel = SpillFiles.create(directory, "bulk-join-");
        } catch (IOException e) {
            throw EngineUnavailableException.noSpillFile(directory, e);
        }
    }

    TupleLayout layout() {
        return layout;
    }

    /** Returns the bytes of all blocks. */
    long lengthBytes() {
        return writtenBytes + bufferedBytes;
    }

    /** Returns the bytes of the longest block. */
    int longestBlockBytes() {
        return longestBlockBytes;
    }

    // ------------------------------------------------------------------ write

    /**
     * Writes tuples that lie one after another, in blocks.
     *
     * @throws EngineUnavailableException if the file cannot be written
     * @throws InterruptedException if the thread is interrupted; the file is closed then
     */
    void write(long tuples, int count) throws InterruptedException {
        for (int done = 0; done < count; ) {
            done += writeBlock(tuples + (long) done * layout.tupleBytes(), count - done);
        }
    }

    /** Writes the leading tuples, at least one, and returns their number. */
    private int writeBlock(long tuples, int count) throws InterruptedException {
        int tupleBytes = layout.tupleBytes();
        long bytes = HEADER_BYTES;
        int written = 0;
        while (written < count) {
            long next = tupleBytes + outOfLineBytes(tuples + (long) written * tupleBytes);
            if (written > 0 && bytes + next > MAX_BLOCK_BYTES) {
                break;
            }
            bytes += next;
            written++;
        }
        int lengthBytes = Math.toIntExact(bytes + 7 & -8);
        longestBlockBytes = Math.max(longestBlockBytes, lengthBytes);
        putHeader(lengthBytes, written);
        put(tuples, (long) written * tupleBytes);
        for (int i = 0; layout.hasOutOfLine() && i < written; i++) {
            long tuple = tuples + (long) i * tupleBytes;
            long outOfLine = Memory.getLong(tuple + layout.outOfLineOffset());
            put(outOfLine, layout.outOfLineBytes(outOfLine));
        }
        bufferedBytes = bufferedBytes + 7 & -8;
        return written;
    }

    private long outOfLineBytes(long tuple) {
        return layout.hasOutOfLine()
                ? layout.outOfLineBytes(Memory.getLong(tuple + layout.outOfLineOffset()))
                : 0;
    }

    /** Blocks and the buffer are multiples of 8 bytes, so that a header is never divided. */
    private void putHeader(int lengthBytes, int count) throws InterruptedException {
        if (bufferedBytes == buffer.length) {
            flush();
        }
        Memory.putInt(buffer, Memory.BYTES + bufferedBytes, lengthBytes);
        Memory.putInt(buffer, Memory.BYTES + bufferedBytes + Integer.BYTES, count);
        bufferedBytes += HEADER_BYTES;
    }

    private void put(long address, long lengthBytes) throws InterruptedException {
        for (long done = 0; done < lengthBytes; ) {
            if (bufferedBytes == buffer.length) {
                flush();
            }
            int bytes = (int) Math.min(lengthBytes - done, buffer.length - bufferedBytes);
            Memory.copy(null, address + done, buffer, Memory.BYTES + bufferedBytes, bytes);
            bufferedBytes += bytes;
            done += bytes;
        }
    }

    /**
     * Writes what is buffered.
     *
     * @throws EngineUnavailableException if the file cannot be written
     * @throws InterruptedException if the thread is interrupted; the file is closed then
     */
    void flush() throws InterruptedException {
        ByteBuffer bytes = ByteBuffer.wrap(buffer, 0, bufferedBytes);
        bufferedBytes = 0;
        try {
            while (bytes.hasRemaining()) {
                writtenBytes += channel.write(bytes, writtenBytes);
            }
        } catch (IOException e) {
            throw failed("Rows cannot be spilled: fileBytes=" + writtenBytes, e);
        }
    }

    // ------------------------------------------------------------------ read

    /**
     * Reads bytes to an address.
     *
     * @throws EngineUnavailableException if the file cannot be read
     * @throws InterruptedException if the thread is interrupted; the file is closed then
     */
    void read(long position, long address, int lengthBytes) throws InterruptedException {
        byte[] bytes = new byte[Math.min(lengthBytes, BUFFER_BYTES)];
        try {
            for (int at = 0; at < lengthBytes; ) {
                int room = Math.min(bytes.length, lengthBytes - at);
                int read = channel.read(ByteBuffer.wrap(bytes, 0, room), position + at);
                if (read < 0) {
                    throw new IOException("The file ends early");
                }
                Memory.copy(bytes, Memory.BYTES, null, address + at, read);
                at += read;
            }
        } catch (IOException e) {
            throw failed(
                    "Spilled rows cannot be read: position=" + position + ", bytes=" + lengthBytes,
                    e);
        }
    }

    /**
     * Returns the failure of a read or a write.
     *
     * @throws InterruptedException if an interrupt of the thread closed the file
     */
    static EngineUnavailableException failed(String sentence, IOException e)
            throws InterruptedException {
        if (e instanceof ClosedByInterruptException) {
            Thread.interrupted();
            throw new InterruptedException();
        }
        return EngineUnavailableException.spillFileFailed(sentence, e);
    }

    @Override
    public void close() {
        try {
            channel.close();
        } catch (IOException e) {
            throw new UncheckedIOException("A file of spilled rows cannot be closed.", e);
        }
    }
}
