// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.symmetric;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSlot;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.cpu.SpillFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;

/**
 * Files of chunks that exceed the memory of a join. They are mapped, so that a chunk is read in
 * place, and the operating system keeps the pages that are read often while it has memory.
 *
 * <pre>
 *  file of 64 MiB:  chunk | padding to 64 bytes | chunk | ...
 * </pre>
 *
 * <p>Chunks are written through the channel: a full disk is then an exception, whereas a store to a
 * mapped page would end the process. A file is closed, and deleted, when no chunk in it has a user.
 * Only the thread of the join uses this object.
 */
final class ChunkFiles implements AutoCloseable {

    /** A file is longer only if one chunk is. */
    private static final long FILE_BYTES = 64 << 20;

    private final Path directory;
    private final Set<MappedFile> files = new HashSet<>();

    /** The file that is being written, or null. */
    private MappedFile current;

    ChunkFiles(Path directory) {
        this.directory = directory;
    }

    /**
     * Returns a copy of a chunk in a file, with one user. The chunk is on the heap.
     *
     * @throws IOException if the directory or its disk cannot be written
     */
    Chunk write(Chunk chunk) throws IOException {
        int lengthBytes = chunk.lengthBytes();
        if (current == null || current.freeBytes() < lengthBytes) {
            MappedFile next = new MappedFile(Math.max(FILE_BYTES, lengthBytes));
            files.add(next);
            seal();
            current = next;
        }
        return Chunk.inSlot(chunk.schema(), current.write(chunk.array(), lengthBytes), lengthBytes);
    }

    /** Ends the current file. */
    private void seal() {
        MappedFile sealed = current;
        current = null;
        if (sealed != null && sealed.users == 0) {
            sealed.close();
        }
    }

    /** Unmaps and deletes all files, also those of chunks that have users. */
    @Override
    public void close() {
        current = null;
        Set.copyOf(files).forEach(MappedFile::close);
    }

    /** A file that is already deleted: its blocks are freed when it is neither open nor mapped. */
    private final class MappedFile {

        private final FileChannel channel;
        private final Region region;
        private long writtenBytes;

        /** Users of all chunks. */
        private int users;

        MappedFile(long lengthBytes) throws IOException {
            channel = SpillFiles.create(directory, "regular-join-");
            try {
                region = Region.map(channel, lengthBytes);
            } catch (IOException e) {
                channel.close();
                throw e;
            }
        }

        long freeBytes() {
            return region.lengthBytes() - writtenBytes;
        }

        /** Writes the first bytes of an array, and returns the slot that contains them. */
        FileSlot write(byte[] bytes, int lengthBytes) throws IOException {
            ByteBuffer buffer = ByteBuffer.wrap(bytes, 0, lengthBytes);
            while (buffer.hasRemaining()) {
                channel.write(buffer, writtenBytes + buffer.position());
            }
            FileSlot slot = new FileSlot(this, region.address() + writtenBytes);
            users++;
            writtenBytes +=
                    lengthBytes + Region.ALIGNMENT_BYTES - 1 & -(long) Region.ALIGNMENT_BYTES;
            return slot;
        }

        void removeUser() {
            users--;
            if (users == 0 && current != this) {
                close();
            }
        }

        void close() {
            if (files.remove(this)) {
                region.close();
                try {
                    channel.close();
                } catch (IOException e) {
                    throw new UncheckedIOException("A file of spilled chunks cannot be closed.", e);
                }
            }
        }
    }

    /** A chunk of a file. */
    private static final class FileSlot implements ChunkSlot {

        private final MappedFile file;
        private final long address;
        private int users = 1;

        FileSlot(MappedFile file, long address) {
            this.file = file;
            this.address = address;
        }

        private void requireUser() {
            if (users == 0) {
                throw new IllegalStateException("Chunk of a file has no user");
            }
        }

        @Override
        public long address() {
            requireUser();
            return address;
        }

        @Override
        public Region region() {
            return file.region;
        }

        @Override
        public boolean isVerified() {
            return true;
        }

        @Override
        public void retain() {
            requireUser();
            users++;
            file.users++;
        }

        @Override
        public void release() {
            requireUser();
            users--;
            file.removeUser();
        }
    }
}
