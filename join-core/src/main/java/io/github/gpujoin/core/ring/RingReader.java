package io.github.gpujoin.core.ring;

import static io.github.gpujoin.core.ring.SlotDescriptor.CHECKSUM_OFFSET;
import static io.github.gpujoin.core.ring.SlotDescriptor.EPOCH_OFFSET;
import static io.github.gpujoin.core.ring.SlotDescriptor.LENGTH_OFFSET;
import static io.github.gpujoin.core.ring.SlotDescriptor.PAYLOAD_OFFSET;
import static io.github.gpujoin.core.ring.SlotDescriptor.SEQUENCE_OFFSET;

import io.github.gpujoin.core.region.Memory;

/**
 * The reading end of a ring: takes slots in order, each when it is whole.
 *
 * <p>The header is copied and checked against the ring's own bounds before the payload is touched.
 * The ring's memory stays the writer's to break: a payload that passed here can still be
 * overwritten by a peer that ignores its credit. Who does not trust the peer copies the payload out
 * and checks the copy, as {@code Chunk.wrap} does.
 *
 * <p>For one thread at a time.
 */
public final class RingReader {

    private final Object base;
    private final long offset;
    private final RingGeometry geometry;
    private final long epoch;
    private long releasedSequence;
    private long checkedSequence;
    private int lengthBytes;

    /**
     * @param base byte array, or null for native memory, as in {@link Memory}; aligned to 8 bytes
     * @param offset of {@link RingGeometry#lengthBytes()} bytes
     * @param releasedSequence the last sequence that is done with; the next one is read first
     */
    public RingReader(
            Object base, long offset, RingGeometry geometry, long epoch, long releasedSequence) {
        this.base = base;
        this.offset = offset;
        this.geometry = geometry;
        this.epoch = epoch;
        this.releasedSequence = releasedSequence;
        this.checkedSequence = releasedSequence;
    }

    /**
     * Looks at the next slot, all of it, anew each time: what a faulty network did to a slot since
     * the last look shows.
     *
     * @throws RingException where the writer wrote ahead of its credit
     */
    public SlotState poll() {
        long sequence = releasedSequence + 1;
        checkedSequence = releasedSequence;
        long slot = offset + geometry.slotOffset(sequence);
        // acquire: what is read below is at least as new as the sequence
        long seen = Memory.getLongAcquire(base, slot + SEQUENCE_OFFSET);
        if (seen != sequence) {
            checkNotAhead(seen, sequence);
            return SlotState.EMPTY;
        }
        long slotEpoch = Memory.getLong(base, slot + EPOCH_OFFSET);
        int length = Memory.getInt(base, slot + LENGTH_OFFSET);
        long checksum = Memory.getLong(base, slot + CHECKSUM_OFFSET);
        boolean headerHolds =
                slotEpoch == epoch
                        && length >= 8
                        && length % 8 == 0
                        && length <= geometry.payloadCapacityBytes();
        if (!headerHolds
                || SlotChecksum.of(sequence, epoch, base, slot + PAYLOAD_OFFSET, length)
                        != checksum) {
            return SlotState.TORN;
        }
        lengthBytes = length;
        checkedSequence = sequence;
        return SlotState.READY;
    }

    /** Offset of the payload from the base given; of a ready slot. */
    public long payloadOffset() {
        checkReady();
        return offset + geometry.slotOffset(checkedSequence) + PAYLOAD_OFFSET;
    }

    /** Bytes of the payload of a ready slot. */
    public int lengthBytes() {
        checkReady();
        return lengthBytes;
    }

    /** Is done with a ready slot, whose bytes are the writer's from its acknowledgement on. */
    public void release() {
        checkReady();
        releasedSequence = checkedSequence;
    }

    /** The last sequence that is done with: what the writer may be told. */
    public long releasedSequence() {
        return releasedSequence;
    }

    private void checkReady() {
        if (checkedSequence == releasedSequence) {
            throw new IllegalStateException(
                    "a slot is read after poll() said READY: releasedSequence=" + releasedSequence);
        }
    }

    /** A slot holds its own sequence, one of an earlier round, or nothing yet. */
    private void checkNotAhead(long seen, long sequence) {
        if (seen < 0 || seen > sequence) {
            throw new RingException(
                    "a slot is written when it was given back: sequence="
                            + sequence
                            + ", found="
                            + seen
                            + ", slotCount="
                            + geometry.slotCount());
        }
    }
}
