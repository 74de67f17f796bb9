// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.core.fs.Path;
import org.apache.parquet.io.DelegatingSeekableInputStream;
import org.apache.parquet.io.InputFile;
import org.apache.parquet.io.SeekableInputStream;

/** A file of any file system of Flink, for parquet-java. */
record FlinkInputFile(Path path, long lengthBytes) implements InputFile {

    @Override
    public long getLength() {
        return lengthBytes;
    }

    @Override
    public SeekableInputStream newStream() throws IOException {
        return new Stream(path.getFileSystem().open(path));
    }

    /**
     * A stream whose small reads are buffered: parquet-java reads headers and indexes byte by byte.
     */
    private static final class Stream extends DelegatingSeekableInputStream {

        private static final int BUFFER_BYTES = 16 << 10;

        private final Buffered in;

        Stream(FSDataInputStream file) {
            this(new Buffered(file));
        }

        private Stream(Buffered in) {
            super(in);
            this.in = in;
        }

        @Override
        public long getPos() throws IOException {
            return in.position();
        }

        @Override
        public void seek(long position) throws IOException {
            if (position < 0) {
                throw new EOFException("Position before the file: position=" + position);
            }
            in.seek(position);
        }

        /** Reads of the buffer's size or more go to the file. */
        private static final class Buffered extends BufferedInputStream {

            private final FSDataInputStream file;

            Buffered(FSDataInputStream file) {
                super(file, BUFFER_BYTES);
                this.file = file;
            }

            @Override
            public int read(byte[] into, int offset, int length) throws IOException {
                int read = super.read(into, offset, length);
                forgetIfRead();
                return read;
            }

            @Override
            public long skip(long bytes) throws IOException {
                long skipped = super.skip(bytes);
                forgetIfRead();
                return skipped;
            }

            /** What bypasses an empty buffer moves the file away from the buffer's bytes. */
            private void forgetIfRead() {
                if (pos == count) {
                    forget();
                }
            }

            private void forget() {
                pos = 0;
                count = 0;
            }

            long position() throws IOException {
                return file.getPos() - (count - pos);
            }

            void seek(long position) throws IOException {
                long ahead = position - position();
                if (ahead >= -pos && ahead <= count - pos) {
                    pos += (int) ahead;
                    return;
                }
                forget();
                file.seek(position);
            }
        }
    }
}
