// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.verbs;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import java.lang.invoke.VarHandle;
import java.util.SplittableRandom;

/**
 * A ring of slots for {@link VerbsCheck}, and the chunks that both sides can generate.
 *
 * <pre>
 *   slot   0         64
 *          | flag    | chunk ...                    |   flag: sequence of the chunk, written last
 *   ring   | slot 0 | slot 1 | ... | guard          |   guard: in the region, never written
 * </pre>
 */
final class CheckRing implements AutoCloseable {

    static final int SLOTS = 8;
    static final int CHUNK_OFFSET = 64;
    static final int MAX_CHUNK_BYTES = 64 << 10;
    static final int SLOT_BYTES = CHUNK_OFFSET + MAX_CHUNK_BYTES;
    static final int GUARD_BYTES = 4096;

    /** Room for the padding of a builder's columns. */
    private static final int PADDING_BYTES = 1024;

    static final byte EMPTY = 0x5A;

    private static final ChunkSchema SCHEMA =
            ChunkSchema.of(
                    Column.of("key", ColumnType.INT64), Column.of("value", ColumnType.INT32));

    private final Region region = Region.allocate((long) SLOTS * SLOT_BYTES + GUARD_BYTES);

    CheckRing() {
        Memory.fill(null, region.address(), region.lengthBytes(), EMPTY);
        for (int slot = 0; slot < SLOTS; slot++) {
            Memory.putLong(slotAddress(slot), 0);
        }
    }

    long address() {
        return region.address();
    }

    /** Length of the registered part: the slots without the guard. */
    long registeredBytes() {
        return region.lengthBytes() - GUARD_BYTES;
    }

    long slotAddress(long sequence) {
        return region.address() + offset(sequence);
    }

    static long offset(long sequence) {
        return sequence % SLOTS * SLOT_BYTES;
    }

    long flag(long sequence) {
        long flag = Memory.getLong(slotAddress(sequence));
        // Read the flag before any byte of the chunk.
        VarHandle.acquireFence();
        return flag;
    }

    byte[] bytes(long sequence, int lengthBytes) {
        byte[] bytes = new byte[lengthBytes];
        Memory.copy(null, slotAddress(sequence) + CHUNK_OFFSET, bytes, Memory.BYTES, lengthBytes);
        return bytes;
    }

    /** Stores a chunk and its flag in the sender's copy of the slot. */
    void put(long sequence, byte[] chunk) {
        Memory.copy(chunk, Memory.BYTES, null, slotAddress(sequence) + CHUNK_OFFSET, chunk.length);
        Memory.putLong(slotAddress(sequence), sequence);
    }

    /** Counts bytes outside the flags that differ from the initial ring. */
    long changedBytes() {
        long changed = 0;
        for (long i = 0; i < region.lengthBytes(); i++) {
            boolean isFlag = i < registeredBytes() && i % SLOT_BYTES < Long.BYTES;
            byte expected = isFlag ? 0 : EMPTY;
            changed += Memory.getByte(null, region.address() + i) == expected ? 0 : 1;
        }
        return changed;
    }

    /** Generates the chunk of a sequence, equal on both sides; its size depends on the sequence. */
    static byte[] chunk(long seed, long sequence) {
        SplittableRandom random = new SplittableRandom(seed ^ sequence * 0x9E3779B97F4A7C15L);
        int targetBytes =
                random.nextInt(ChunkDescriptor.HEADER_BYTES + 256, MAX_CHUNK_BYTES - PADDING_BYTES);
        ChunkBuilder builder = new ChunkBuilder(SCHEMA, targetBytes);
        while (!builder.isFull()) {
            builder.putLong(0, random.nextLong());
            builder.putInt(1, random.nextInt());
            builder.endRow();
        }
        return builder.seal(ChunkDescriptor.FACTS, 0, 1, sequence).bytes();
    }

    /** Rejects a chunk with a wrong checksum. */
    static Chunk wrap(byte[] bytes) {
        return Chunk.wrap(SCHEMA, bytes);
    }

    @Override
    public void close() {
        region.close();
    }
}
