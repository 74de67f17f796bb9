// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.bulk;

import io.github.gpujoin.core.engine.EngineUnavailableException;
import io.github.gpujoin.core.engine.EngineUnavailableException.Scope;
import io.github.gpujoin.core.region.Memory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Tuples that one thread wrote to a file, in segments. Threads may read segments at the same time
 * once all are written. The file is deleted when it is closed.
 *
 * <pre>
 *  segment: tuple[count]
 *           what each tuple refers to out of line, in the order of the tuples; padding to 8
 * </pre>
 */
final class SpillFile implements AutoCloseable {

    /** Longest segment, unless one tuple is longer. */
    private static final int MAX_SEGMENT_BYTES = 256 << 10;

    /**
     * Tuples of one partition that lie one after another in the file.
     *
     * @param position of the first byte in the file
     */
    record Segment(SpillFile file, long position, int lengthBytes, int count) {

        /**
         * Reads the segment, and lets its tuples refer to what follows them.
         *
         * @throws EngineUnavailableException if the file cannot be read
         */
        void read(long address) throws InterruptedException {
            file.read(position, address, lengthBytes);
            file.refer(address, count);
        }
    }

    private final TupleLayout layout;
    private final FileChannel channel;
    private byte[] segment = new byte[MAX_SEGMENT_BYTES];
    private long lengthBytes;

    SpillFile(Path directory, TupleLayout layout) {
        this.layout = layout;
        try {
            Path file = Files.createTempFile(directory, "bulk-join-", ".spill");
            this.channel =
                    FileChannel.open(
                            file,
                            StandardOpenOption.READ,
                            StandardOpenOption.WRITE,
                            StandardOpenOption.DELETE_ON_CLOSE);
        } catch (IOException e) {
            throw new EngineUnavailableException(
                    Scope.FILE,
                    "A file for spilled rows cannot be created: directory="
                            + directory
                            + ". Name a directory that can be written.",
                    e);
        }
    }

    /**
     * Writes the leading tuples of some that lie one after another, at least one.
     *
     * @param count at least 1
     * @throws EngineUnavailableException if the file cannot be written
     */
    Segment write(long tuples, int count) throws InterruptedException {
        int tupleBytes = layout.tupleBytes();
        long bytes = 0;
        int written = 0;
        while (written < count) {
            long next = tupleBytes + outOfLineBytes(tuples + (long) written * tupleBytes);
            if (written > 0 && bytes + next > MAX_SEGMENT_BYTES) {
                break;
            }
            bytes += next;
            written++;
        }
        int length = Math.toIntExact(bytes + 7 & -8);
        if (length > segment.length) {
            segment = new byte[length];
        }
        Memory.copy(null, tuples, segment, Memory.BYTES, (long) written * tupleBytes);
        long at = Memory.BYTES + (long) written * tupleBytes;
        for (int i = 0; layout.hasOutOfLine() && i < written; i++) {
            long tuple = tuples + (long) i * tupleBytes;
            long outOfLine = Memory.getLong(tuple + layout.outOfLineOffset());
            long outOfLineBytes = layout.outOfLineBytes(outOfLine);
            Memory.copy(null, outOfLine, segment, at, outOfLineBytes);
            at += outOfLineBytes;
        }
        Segment result = new Segment(this, lengthBytes, length, written);
        append(length);
        return result;
    }

    private long outOfLineBytes(long tuple) {
        return layout.hasOutOfLine()
                ? layout.outOfLineBytes(Memory.getLong(tuple + layout.outOfLineOffset()))
                : 0;
    }

    private void append(int length) throws InterruptedException {
        try {
            ByteBuffer buffer = ByteBuffer.wrap(segment, 0, length);
            while (buffer.hasRemaining()) {
                lengthBytes += channel.write(buffer, lengthBytes);
            }
        } catch (IOException e) {
            throw failed(
                    "Rows cannot be spilled: fileBytes=" + lengthBytes + ", bytes=" + length, e);
        }
    }

    /**
     * Returns the failure of a read or a write.
     *
     * @throws InterruptedException if an interrupt of the thread closed the file
     */
    private static EngineUnavailableException failed(String sentence, IOException e)
            throws InterruptedException {
        if (e instanceof ClosedByInterruptException) {
            Thread.interrupted();
            throw new InterruptedException();
        }
        return new EngineUnavailableException(
                Scope.FILE,
                sentence
                        + ", error="
                        + e.getMessage()
                        + ". Free or repair the disk, name another directory or allow more memory.",
                e);
    }

    /** Returns the bytes of all segments. */
    long lengthBytes() {
        return lengthBytes;
    }

    private void read(long position, long address, int length) throws InterruptedException {
        byte[] bytes = new byte[Math.min(length, MAX_SEGMENT_BYTES)];
        try {
            for (int at = 0; at < length; ) {
                ByteBuffer buffer = ByteBuffer.wrap(bytes, 0, Math.min(bytes.length, length - at));
                int read = channel.read(buffer, position + at);
                if (read < 0) {
                    throw new IOException("Spilled rows end early: position=" + (position + at));
                }
                Memory.copy(bytes, Memory.BYTES, null, address + at, read);
                at += read;
            }
        } catch (IOException e) {
            throw failed(
                    "Spilled rows cannot be read: position=" + position + ", bytes=" + length, e);
        }
    }

    private void refer(long address, int count) {
        if (layout.hasOutOfLine()) {
            long outOfLine = address + (long) count * layout.tupleBytes();
            for (int i = 0; i < count; i++) {
                long tuple = address + (long) i * layout.tupleBytes();
                Memory.putLong(tuple + layout.outOfLineOffset(), outOfLine);
                outOfLine += layout.outOfLineBytes(outOfLine);
            }
        }
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
