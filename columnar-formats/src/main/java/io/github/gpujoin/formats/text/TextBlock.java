// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.text;

import java.io.Closeable;
import java.io.IOException;
import java.util.Arrays;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.Path;

/** A window of a file that moves forward. Used by one thread at a time. */
final class TextBlock implements Closeable {

    /** Readable bytes after the last one, so that loads of {@link LineScanner} stay inside. */
    static final int PADDING_BYTES = Long.SIZE;

    private static final int BLOCK_BYTES = 256 << 10;
    private static final int LONGEST_LINE_BYTES = 64 << 20;

    private final Path path;
    private final FSDataInputStream in;
    private final long fileBytes;
    private byte[] bytes;

    /** Of the first byte, in the file. */
    private long offset;

    private int end;

    /** Whether the last byte of the file was read; a line feed is added if it is none. */
    private boolean isLast;

    private TextBlock(Path path, FSDataInputStream in, long fileBytes) {
        int capacityBytes = (int) Math.min(BLOCK_BYTES, fileBytes + 1);
        this.path = path;
        this.in = in;
        this.fileBytes = fileBytes;
        this.bytes = new byte[capacityBytes + 1 + PADDING_BYTES];
    }

    static TextBlock open(Path path, long fileBytes) throws IOException {
        return new TextBlock(path, path.getFileSystem().open(path), fileBytes);
    }

    Path path() {
        return path;
    }

    byte[] bytes() {
        return bytes;
    }

    /** Returns the offset in the file of the first byte. */
    long offset() {
        return offset;
    }

    /** Returns the index in {@link #bytes} after the last byte. */
    int end() {
        return end;
    }

    /** Empties the block; it starts at another offset, also behind the end. */
    void startAt(long fileOffset) {
        offset = fileOffset;
        end = 0;
        isLast = false;
    }

    /**
     * Moves what starts at {@code keep} to the front, and reads on.
     *
     * @return whether there are more bytes than before
     * @throws MalformedLineException if what is kept is longer than any line may be
     * @throws IOException if the file cannot be read, or is shorter than when it was found
     */
    boolean read(int keep) throws IOException {
        System.arraycopy(bytes, keep, bytes, 0, end - keep);
        offset += keep;
        end -= keep;
        if (isLast) {
            return false;
        }
        int capacity = bytes.length - PADDING_BYTES - 1;
        if (end == capacity) {
            if (capacity >= LONGEST_LINE_BYTES) {
                throw malformed(
                        offset, "expected a line of at most " + LONGEST_LINE_BYTES + " bytes");
            }
            bytes = Arrays.copyOf(bytes, 2 * capacity + 1 + PADDING_BYTES);
            capacity *= 2;
        }
        if (in.getPos() != offset + end) {
            in.seek(offset + end);
        }
        int count = in.read(bytes, end, capacity - end);
        if (count < 0) {
            return readEnd();
        }
        end += count;
        return true;
    }

    private boolean readEnd() throws IOException {
        if (offset + end < fileBytes) {
            throw new IOException(
                    "File is shorter than when it was found: file=%s, bytes=%d, found=%d"
                            .formatted(path, offset + end, fileBytes));
        }
        isLast = true;
        if (end == 0 || bytes[end - 1] == '\n') {
            return false;
        }
        bytes[end++] = '\n';
        return true;
    }

    /** Returns an exception that names the line at an offset, whose number is counted now. */
    MalformedLineException malformed(long lineOffset, String problem) throws IOException {
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
        return new MalformedLineException(path.getPath(), number, problem);
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
