// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.ring.SlotParts;
import io.github.gpujoin.core.slot.CountedSlot;
import io.github.gpujoin.rdma.session.TakenSlot;
import java.util.Arrays;
import java.util.BitSet;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A slot of a shared ring with chunks of several subtasks, laid out as {@link SlotParts}. Each
 * chunk is claimed once, by the subtask that has its ticket. The slot is released with its last
 * chunk.
 *
 * <p>{@link SharedReaderEnd} guards it, except the count of its users.
 */
final class ArrivedSlot extends CountedSlot {

    /**
     * A smaller part of a slot is copied out. Read in place, a few KiB would keep the whole slot
     * from the writer until their results are emitted.
     */
    private static final int MAX_PARTS_IN_PLACE = 4;

    private final TakenSlot taken;
    private final Consumer<ArrivedSlot> whenReleased;
    private final int[] offsets;
    private final int[] lengths;
    private final BitSet claimed = new BitSet();

    /**
     * Locates the chunks in a slot. Only bytes that are copied first decide where they are, since
     * another process may write to the memory.
     *
     * @param whenReleased called once, by the thread that releases the last chunk
     * @throws IllegalStateException if a chunk's length is wrong; the caller still owns the slot
     */
    static ArrivedSlot of(TakenSlot taken, Consumer<ArrivedSlot> whenReleased) {
        int end = taken.lengthBytes();
        int[] offsets = new int[4];
        int[] lengths = new int[4];
        int count = 0;
        for (int offset = 0; offset < end; count++) {
            if (count == offsets.length) {
                offsets = Arrays.copyOf(offsets, 2 * count);
                lengths = Arrays.copyOf(lengths, 2 * count);
            }
            offsets[count] = offset;
            lengths[count] = chunkBytes(taken, offset);
            offset = SlotParts.align(offset + lengths[count]);
        }
        return new ArrivedSlot(
                taken, whenReleased, Arrays.copyOf(offsets, count), Arrays.copyOf(lengths, count));
    }

    private static int chunkBytes(TakenSlot taken, int offset) {
        int roomBytes = taken.lengthBytes() - offset;
        int length =
                roomBytes < ChunkDescriptor.HEADER_BYTES
                        ? 0
                        : Memory.getInt(
                                null, taken.address() + offset + ChunkDescriptor.LENGTH_OFFSET);
        if (length < ChunkDescriptor.HEADER_BYTES || length % 8 != 0 || length > roomBytes) {
            throw new IllegalStateException(
                    "Chunk has a wrong length: offset="
                            + offset
                            + ", chunkBytes="
                            + length
                            + ", slotBytes="
                            + taken.lengthBytes());
        }
        return length;
    }

    private ArrivedSlot(
            TakenSlot taken, Consumer<ArrivedSlot> whenReleased, int[] offsets, int[] lengths) {
        super(taken.region(), taken.address());
        this.taken = taken;
        this.whenReleased = whenReleased;
        this.offsets = offsets;
        this.lengths = lengths;
        // One user a chunk; the slot itself was created with one.
        for (int chunk = 1; chunk < offsets.length; chunk++) {
            retain();
        }
    }

    /**
     * Claims a chunk, whose claimant calls {@link #release} once.
     *
     * @return a copy of the chunk's header; null if the slot has no such chunk, or it was claimed
     *     before
     */
    byte @Nullable [] tryClaim(int chunk) {
        if (chunk >= offsets.length || claimed.get(chunk)) {
            return null;
        }
        byte[] header = new byte[ChunkDescriptor.HEADER_BYTES];
        Memory.copy(null, addressOf(chunk), header, Memory.BYTES, header.length);
        claimed.set(chunk);
        return header;
    }

    /** Releases the chunks that nobody has claimed. Nobody may claim a chunk any more. */
    void abandon() {
        for (int chunk = claimed.nextClearBit(0);
                chunk < offsets.length;
                chunk = claimed.nextClearBit(chunk + 1)) {
            claimed.set(chunk);
            release();
        }
    }

    long addressOf(int chunk) {
        return taken.address() + offsets[chunk];
    }

    int lengthOf(int chunk) {
        return lengths[chunk];
    }

    /** Whether a chunk is worth to be read in place: it is at least a quarter of the payload. */
    boolean isLargePart(int chunk) {
        return (long) lengths[chunk] * MAX_PARTS_IN_PLACE >= taken.lengthBytes();
    }

    @Override
    public boolean isVerified() {
        return taken.isVerified();
    }

    /** Whether a network may still write to the slot. Each chunk is then checked when released. */
    boolean mayChange() {
        return taken.mayChange();
    }

    @Override
    protected void released() {
        taken.releaseChecked();
        whenReleased.accept(this);
    }
}
