// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.EngineUnavailableException;
import io.github.gpujoin.core.region.Memory;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A file of runs. Its name is deleted at once, so that no file remains whatever happens. Unlike a
 * channel, it survives an interrupt of its thread. Not thread-safe.
 */
final class RunFile implements AutoCloseable {

    private static final int BUFFER_BYTES = 256 << 10;

    private final RandomAccessFile file;
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private volatile long lengthBytes;

    RunFile(Path directory) {
        try {
            Path name = Files.createTempFile(directory, "bulk-join-", ".runs");
            try {
                this.file = new RandomAccessFile(name.toFile(), "rw");
            } finally {
                Files.delete(name);
            }
        } catch (IOException e) {
            throw EngineUnavailableException.noSpillFile(directory, e);
        }
    }

    /** Returns the bytes of all runs. Any thread may call. */
    long lengthBytes() {
        return lengthBytes;
    }

    /** Appends bytes, and returns their position. */
    long append(long address, int bytes) {
        long position = lengthBytes;
        try {
            file.seek(position);
            for (int done = 0; done < bytes; ) {
                int count = Math.min(BUFFER_BYTES, bytes - done);
                Memory.copy(null, address + done, buffer, Memory.BYTES, count);
                file.write(buffer, 0, count);
                done += count;
            }
        } catch (IOException e) {
            throw EngineUnavailableException.spillFileFailed(
                    "Rows cannot be spilled: fileBytes=" + position, e);
        }
        lengthBytes = position + bytes;
        return position;
    }

    void read(long position, long address, int bytes) {
        try {
            file.seek(position);
            for (int done = 0; done < bytes; ) {
                int count = Math.min(BUFFER_BYTES, bytes - done);
                file.readFully(buffer, 0, count);
                Memory.copy(buffer, Memory.BYTES, null, address + done, count);
                done += count;
            }
        } catch (IOException e) {
            throw EngineUnavailableException.spillFileFailed(
                    "Spilled rows cannot be read: position=" + position, e);
        }
    }

    @Override
    public void close() {
        try {
            file.close();
        } catch (IOException e) {
            throw EngineUnavailableException.spillFileFailed(
                    "A file of spilled rows cannot be closed: fileBytes=" + lengthBytes, e);
        }
    }
}
