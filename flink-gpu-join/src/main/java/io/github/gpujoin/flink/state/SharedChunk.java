// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import io.github.gpujoin.core.encoding.ChunkDecoder;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.MemoryRefusedException;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.region.Region;
import java.util.HashMap;
import java.util.Map;

/**
 * A chunk off the heap. Chunks of equal bytes share one copy in the process: subtasks that receive
 * the same chunk of a replicated dimension hold it once.
 *
 * <p>Any thread may create, read and close a chunk; one thread each.
 */
public final class SharedChunk implements AutoCloseable {

    /** Equal for equal chunks; chunks of equal keys may still differ. */
    private record Key(long checksum, int length) {

        static Key of(byte[] bytes) {
            long checksum = Memory.getLong(bytes, Memory.BYTES + ChunkDescriptor.CHECKSUM_OFFSET);
            return new Key(checksum, bytes.length);
        }
    }

    private static final class Copy {
        private final Region region;
        private int users;

        Copy(Region region) {
            this.region = region;
        }
    }

    /** The copies that others may share. Guarded by itself. */
    private static final Map<Key, Copy> OPEN = new HashMap<>();

    private final ChunkSchema schema;
    private final Key key;
    private final Copy copy;
    private boolean closed;

    private SharedChunk(ChunkSchema schema, Key key, Copy copy) {
        this.schema = schema;
        this.key = key;
        this.copy = copy;
    }

    /**
     * Copies a chunk, unless an equal one is open.
     *
     * @param memory in which the copy is reserved, also while only others use it
     * @throws MemoryRefusedException if the memory has no room for the copy
     */
    public static SharedChunk of(Chunk chunk, MemoryReservations memory) {
        byte[] bytes = chunk.bytes();
        Key key = Key.of(bytes);
        synchronized (OPEN) {
            Copy copy = OPEN.get(key);
            if (copy == null || !holds(copy, bytes)) {
                Region region = allocate(bytes.length, memory);
                Memory.copy(bytes, Memory.BYTES, null, region.address(), bytes.length);
                copy = new Copy(region);
                OPEN.putIfAbsent(key, copy);
            }
            copy.users++;
            return new SharedChunk(chunk.schema(), key, copy);
        }
    }

    private static Region allocate(int lengthBytes, MemoryReservations memory) {
        long reservedBytes = Region.allocatedBytes(lengthBytes);
        memory.reserve(reservedBytes);
        try {
            return Region.allocate(lengthBytes, () -> memory.release(reservedBytes));
        } catch (OutOfMemoryError e) {
            memory.release(reservedBytes);
            throw e;
        }
    }

    private static boolean holds(Copy copy, byte[] bytes) {
        long address = copy.region.address();
        for (int i = 0; i < bytes.length; i += Long.BYTES) {
            if (Memory.getLong(address + i) != Memory.getLong(bytes, Memory.BYTES + i)) {
                return false;
            }
        }
        return true;
    }

    /** A copy on the heap. */
    public Chunk read() {
        byte[] bytes = new byte[key.length];
        Memory.copy(null, copy.region.address(), bytes, Memory.BYTES, bytes.length);
        return ChunkDecoder.open(schema, bytes);
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        synchronized (OPEN) {
            copy.users--;
            if (copy.users == 0) {
                OPEN.remove(key, copy);
                copy.region.close();
            }
        }
    }
}
