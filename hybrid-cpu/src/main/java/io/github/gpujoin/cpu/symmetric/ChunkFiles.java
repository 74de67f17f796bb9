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
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

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
 * If few have, {@link #compact} copies them to the file that is being written. Only the thread of
 * the join uses this object.
 */
final class ChunkFiles implements AutoCloseable {

    /** A file is longer only if one chunk is. */
    private static final long FILE_BYTES = 64 << 20;

    private final Path directory;
    private final Set<MappedFile> files = new HashSet<>();

    /**
     * Files whose chunks have less than a quarter of their bytes: copying one frees three others.
     */
    private final Set<MappedFile> sparse = new LinkedHashSet<>();

    /** The file that is being written, or null. */
    private @Nullable MappedFile current;

    ChunkFiles(Path directory) {
        this.directory = directory;
    }

    /**
     * Moves a chunk from the heap to a file. It has one user there.
     *
     * @throws IOException if the directory or its disk cannot be written
     */
    void move(KeptChunk kept) throws IOException {
        Chunk chunk = kept.chunk;
        int lengthBytes = chunk.lengthBytes();
        if (current == null || current.freeBytes() < lengthBytes) {
            MappedFile next = new MappedFile(Math.max(FILE_BYTES, lengthBytes));
            files.add(next);
            seal();
            current = next;
        }
        FileSlot slot = current.write(kept, chunk.array(), lengthBytes);
        kept.chunk = Chunk.inSlot(chunk.schema(), slot, lengthBytes);
    }

    /** Ends the current file. */
    private void seal() {
        MappedFile sealed = current;
        current = null;
        if (sealed != null) {
            sealed.reclaim();
        }
    }

    /**
     * Empties sparse files. Nobody may refer to a chunk of a file but its {@link KeptChunk}. If the
     * disk is full, the files stay.
     */
    void compact() {
        try {
            for (MappedFile file : List.copyOf(sparse)) {
                file.moveAll();
            }
        } catch (IOException e) {
            // The next call tries again.
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
        private final Set<FileSlot> slots = new LinkedHashSet<>();
        private long writtenBytes;

        /** Bytes of the slots. */
        private long usedBytes;

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
        FileSlot write(KeptChunk kept, byte[] bytes, int lengthBytes) throws IOException {
            ByteBuffer buffer = ByteBuffer.wrap(bytes, 0, lengthBytes);
            while (buffer.hasRemaining()) {
                channel.write(buffer, writtenBytes + buffer.position());
            }
            FileSlot slot = new FileSlot(this, kept, region.address() + writtenBytes, lengthBytes);
            slots.add(slot);
            usedBytes += lengthBytes;
            writtenBytes +=
                    lengthBytes + Region.ALIGNMENT_BYTES - 1 & -(long) Region.ALIGNMENT_BYTES;
            return slot;
        }

        void remove(FileSlot slot) {
            slots.remove(slot);
            usedBytes -= slot.lengthBytes;
            reclaim();
        }

        /** Closes a sealed file without chunks. Marks one as sparse. */
        void reclaim() {
            if (current == this) {
                return;
            }
            if (slots.isEmpty()) {
                close();
            } else if (usedBytes < region.lengthBytes() / 4) {
                sparse.add(this);
            }
        }

        /** Moves all chunks to the file that is being written. The last one closes this file. */
        void moveAll() throws IOException {
            for (FileSlot slot : List.copyOf(slots)) {
                Chunk moved = slot.kept.chunk;
                slot.kept.chunk = moved.onHeap();
                try {
                    move(slot.kept);
                } catch (IOException e) {
                    slot.kept.chunk = moved;
                    throw e;
                }
                moved.release();
            }
        }

        void close() {
            sparse.remove(this);
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
        private final KeptChunk kept;
        private final long address;
        private final int lengthBytes;
        private int users = 1;

        FileSlot(MappedFile file, KeptChunk kept, long address, int lengthBytes) {
            this.file = file;
            this.kept = kept;
            this.address = address;
            this.lengthBytes = lengthBytes;
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
        }

        @Override
        public void release() {
            requireUser();
            users--;
            if (users == 0) {
                file.remove(this);
            }
        }
    }
}
