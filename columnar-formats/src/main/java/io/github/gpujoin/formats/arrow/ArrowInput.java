// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.arrow;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.NonWritableChannelException;
import java.nio.channels.SeekableByteChannel;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.Path;

/** A file of any file system of Flink, for Arrow. */
final class ArrowInput implements SeekableByteChannel {

    private static final int COPIED_BYTES = 64 << 10;

    private final FSDataInputStream in;
    private final long lengthBytes;
    private final byte[] copied = new byte[COPIED_BYTES];
    private boolean isOpen = true;

    ArrowInput(Path path, long lengthBytes) throws IOException {
        this.in = path.getFileSystem().open(path);
        this.lengthBytes = lengthBytes;
    }

    @Override
    public int read(ByteBuffer target) throws IOException {
        int count = in.read(copied, 0, Math.min(target.remaining(), COPIED_BYTES));
        if (count > 0) {
            target.put(copied, 0, count);
        }
        return count;
    }

    @Override
    public long position() throws IOException {
        return in.getPos();
    }

    @Override
    public SeekableByteChannel position(long to) throws IOException {
        if (to < 0 || to > lengthBytes) {
            throw new IOException("Position is outside the file: position=" + to);
        }
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
