// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.avro;

import java.io.EOFException;
import java.io.IOException;
import org.apache.avro.file.SeekableInput;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.Path;

/** A file of any file system of Flink, for Avro, with a window in memory. */
final class AvroInput implements SeekableInput {

    private static final int WINDOW_BYTES = 256 << 10;
    private static final int SYNC_BYTES = 16;

    /** Snappy's densest element stands for 64 bytes in 3. */
    private static final int MAX_SNAPPY_RATIO = 22;

    private final FSDataInputStream in;
    private final long lengthBytes;
    private final byte[] window;
    private long windowOffset;
    private int windowBytes;
    private long position;

    AvroInput(Path path, long lengthBytes) throws IOException {
        this.in = path.getFileSystem().open(path);
        this.lengthBytes = lengthBytes;
        this.window = new byte[(int) Math.min(WINDOW_BYTES, lengthBytes + 1)];
    }

    @Override
    public void seek(long to) {
        position = to;
    }

    @Override
    public long tell() {
        return position;
    }

    @Override
    public long length() {
        return lengthBytes;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
        if (!load(position)) {
            return -1;
        }
        int at = (int) (position - windowOffset);
        int count = Math.min(length, windowBytes - at);
        System.arraycopy(window, at, target, offset, count);
        position += count;
        return count;
    }

    /** Moves the window if it does not have a byte of the file; returns false behind the end. */
    private boolean load(long at) throws IOException {
        if (at >= windowOffset && at < windowOffset + windowBytes) {
            return true;
        }
        if (in.getPos() != at) {
            in.seek(at);
        }
        windowOffset = at;
        windowBytes = Math.max(0, in.read(window, 0, window.length));
        return windowBytes > 0;
    }

    /**
     * Checks that a whole block starts at an offset. Avro takes a block that is cut off for the end
     * of the file, and reserves memory for as many bytes as a damaged length says.
     *
     * @param isSnappy whether the block is of Snappy's codec, which begins with a length
     * @return offset after the block and its sync marker
     * @throws EOFException if the file ends before the block does
     * @throws IOException if no block of Snappy can decompress to the length that this one says
     */
    long requireBlock(long offset, boolean isSnappy) throws IOException {
        long[] next = {offset};
        readVariableLong(next);
        long blockBytes = readVariableLong(next);
        if (blockBytes < 0 || blockBytes > lengthBytes - SYNC_BYTES - next[0]) {
            throw new EOFException(
                    "Block ends behind the file: blockBytes="
                            + blockBytes
                            + ", fileBytes="
                            + lengthBytes);
        }
        long end = next[0] + blockBytes + SYNC_BYTES;
        if (isSnappy && blockBytes > 0) {
            long rowBytes = readVarint(next);
            if (rowBytes < 0 || rowBytes > MAX_SNAPPY_RATIO * blockBytes) {
                throw new IOException(
                        "Length of a Snappy block is wrong: bytes=%d, compressedBytes=%d"
                                .formatted(rowBytes, blockBytes));
            }
        }
        return end;
    }

    /** Reads a zigzag number of variable length, and moves the offset behind it. */
    private long readVariableLong(long[] next) throws IOException {
        long value = readVarint(next);
        return value >>> 1 ^ -(value & 1);
    }

    private long readVarint(long[] next) throws IOException {
        long value = 0;
        for (int shift = 0; shift < Long.SIZE; shift += 7) {
            if (!load(next[0])) {
                throw new EOFException("File ends in the head of a block");
            }
            byte part = window[(int) (next[0]++ - windowOffset)];
            value |= (part & 0x7FL) << shift;
            if (part >= 0) {
                break;
            }
        }
        return value;
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
