// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import org.apache.flink.core.fs.FileSystem;
import org.apache.flink.core.fs.Path;
import org.apache.parquet.io.OutputFile;
import org.apache.parquet.io.PositionOutputStream;

/**
 * A file of any file system of Flink, for parquet-java, which writes footers byte by byte and pages
 * in pieces of 8 KiB. The kernel needs several times as long for such pieces as for those of a MiB:
 * each begins and ends inside a page of memory. parquet-java's own file has a buffer of 128 MiB,
 * which no cache holds.
 */
record FlinkOutputFile(Path path) implements OutputFile {

    private static final int BUFFER_BYTES = 1 << 20;

    @Override
    public PositionOutputStream create(long blockSizeHint) throws IOException {
        return open(FileSystem.WriteMode.NO_OVERWRITE);
    }

    @Override
    public PositionOutputStream createOrOverwrite(long blockSizeHint) throws IOException {
        return open(FileSystem.WriteMode.OVERWRITE);
    }

    private PositionOutputStream open(FileSystem.WriteMode mode) throws IOException {
        return new Stream(path.getFileSystem().create(path, mode));
    }

    @Override
    public boolean supportsBlockSize() {
        return false;
    }

    @Override
    public long defaultBlockSize() {
        return 0;
    }

    private static final class Stream extends PositionOutputStream {

        private final OutputStream out;
        private long position;

        Stream(OutputStream file) {
            this.out = new BufferedOutputStream(file, BUFFER_BYTES);
        }

        @Override
        public long getPos() {
            return position;
        }

        @Override
        public void write(int value) throws IOException {
            out.write(value);
            position++;
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            out.write(bytes, offset, length);
            position += length;
        }

        @Override
        public void flush() throws IOException {
            out.flush();
        }

        @Override
        public void close() throws IOException {
            out.close();
        }
    }
}
