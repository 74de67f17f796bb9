// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.arrow;

import io.github.gpujoin.core.region.Memory;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.NonWritableChannelException;
import java.nio.channels.SeekableByteChannel;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.Path;

/** A file of any file system of Flink, for Arrow. */
final class ArrowInput implements SeekableByteChannel {

    private static final int COPIED_BYTES = 64 << 10;

    /** Precedes the length of a message, except in files of old writers. */
    private static final int CONTINUES = -1;

    private static final int MAX_PEEKED_BYTES = 2 * Integer.BYTES;

    private final FSDataInputStream in;
    private final long lengthBytes;
    private final byte[] copied = new byte[COPIED_BYTES];

    /** Bytes that were read ahead. */
    private final byte[] peeked = new byte[MAX_PEEKED_BYTES];

    private int peekedStart;
    private int peekedEnd;
    private boolean isOpen = true;

    ArrowInput(Path path, long lengthBytes) throws IOException {
        this.in = path.getFileSystem().open(path);
        this.lengthBytes = lengthBytes;
    }

    /**
     * Checks that the message which is read next, of a stream, is inside the file. Arrow reserves
     * as much memory as a damaged length says.
     *
     * @throws EOFException if it is not
     */
    void requireMessage() throws IOException {
        long start = position();
        if (peek(Integer.BYTES) < Integer.BYTES) {
            return;
        }
        int length = Memory.getInt(peeked, Memory.BYTES);
        if (length == CONTINUES) {
            if (peek(MAX_PEEKED_BYTES) < MAX_PEEKED_BYTES) {
                return;
            }
            length = Memory.getInt(peeked, Memory.BYTES + Integer.BYTES);
        }
        if (length < 0 || length > lengthBytes - start) {
            throw new EOFException(
                    "Message ends behind the file: messageBytes="
                            + length
                            + ", fileBytes="
                            + lengthBytes);
        }
    }

    /** Reads bytes that {@link #read} returns again; returns how many there are. */
    private int peek(int count) throws IOException {
        while (peekedEnd < count) {
            int read = in.read(peeked, peekedEnd, count - peekedEnd);
            if (read < 0) {
                break;
            }
            peekedEnd += read;
        }
        return peekedEnd - peekedStart;
    }

    @Override
    public int read(ByteBuffer target) throws IOException {
        if (peekedStart < peekedEnd) {
            int count = Math.min(target.remaining(), peekedEnd - peekedStart);
            target.put(peeked, peekedStart, count);
            peekedStart += count;
            if (peekedStart == peekedEnd) {
                peekedStart = 0;
                peekedEnd = 0;
            }
            return count;
        }
        int count = in.read(copied, 0, Math.min(target.remaining(), COPIED_BYTES));
        if (count > 0) {
            target.put(copied, 0, count);
        }
        return count;
    }

    @Override
    public long position() throws IOException {
        return in.getPos() - (peekedEnd - peekedStart);
    }

    @Override
    public SeekableByteChannel position(long to) throws IOException {
        if (to < 0 || to > lengthBytes) {
            throw new IOException("Position is outside the file: position=" + to);
        }
        peekedStart = 0;
        peekedEnd = 0;
        in.seek(to);
        return this;
    }

    @Override
    public long size() {
        return lengthBytes;
    }

    @Override
    public boolean isOpen() {
        return isOpen;
    }

    @Override
    public void close() throws IOException {
        isOpen = false;
        in.close();
    }

    @Override
    public int write(ByteBuffer source) {
        throw new NonWritableChannelException();
    }

    @Override
    public SeekableByteChannel truncate(long size) {
        throw new NonWritableChannelException();
    }
}
