// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

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

    private static final class Stream extends DelegatingSeekableInputStream {

        private final FSDataInputStream in;

        Stream(FSDataInputStream in) {
            super(in);
            this.in = in;
        }

        @Override
        public long getPos() throws IOException {
            return in.getPos();
        }

        @Override
        public void seek(long position) throws IOException {
            if (position < 0) {
                throw new EOFException("Position before the file: position=" + position);
            }
            in.seek(position);
        }
    }
}
