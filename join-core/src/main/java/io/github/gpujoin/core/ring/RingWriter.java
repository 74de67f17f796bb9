package io.github.gpujoin.core.ring;

import static io.github.gpujoin.core.ring.SlotDescriptor.CHECKSUM_OFFSET;
import static io.github.gpujoin.core.ring.SlotDescriptor.EPOCH_OFFSET;
import static io.github.gpujoin.core.ring.SlotDescriptor.LENGTH_OFFSET;
import static io.github.gpujoin.core.ring.SlotDescriptor.PAYLOAD_OFFSET;
import static io.github.gpujoin.core.ring.SlotDescriptor.RESERVED_OFFSET;
import static io.github.gpujoin.core.ring.SlotDescriptor.SEQUENCE_OFFSET;

import io.github.gpujoin.core.region.Memory;

/**
 * The writing end of a ring: fills slots in order, and only slots that the reader gave back.
 *
 * <p>The memory is the ring that the reader reads, where both share memory, or a local image of it
 * whose slots a transport copies to the reader. Either way a slot keeps its payload until {@link
 * #acknowledge}d, so that it can be sent again, in another epoch ({@link #moveToEpoch}) or in
 * another ring ({@link #moveTo}).
 *
 * <p>For one thread at a time.
 */
public final class RingWriter {

    private final RingGeometry geometry;
    private final int[] lengthsBytes;
    private Object base;
    private long offset;
    private long epoch;
    private long writtenSequence;
    private long acknowledgedSequence;

    /**
     * @param base byte array, or null for native memory, as in {@link Memory}; aligned to 8 bytes
     * @param offset of {@link RingGeometry#lengthBytes()} bytes
     */
    public RingWriter(Object base, long offset, RingGeometry geometry, long epoch) {
        this.base = base;
        this.offset = offset;
        this.geometry = geometry;
        this.lengthsBytes = new int[geometry.slotCount()];
        this.epoch = epoch;
    }

    /**
     * Writes a slot and publishes it.
     *
     * @param lengthBytes of the payload: whole words, at least one
     * @return false without credit: all slots hold payloads that are not acknowledged
     */
    public boolean tryWrite(Object payloadBase, long payloadOffset, int lengthBytes) {
        if (lengthBytes < 8
                || lengthBytes % 8 != 0
                || lengthBytes > geometry.payloadCapacityBytes()) {
            throw new IllegalArgumentException(
                    "a payload is whole words and fits in its slot: lengthBytes="
                            + lengthBytes
                            + ", capacityBytes="
                            + geometry.payloadCapacityBytes());
        }
        if (credits() == 0) {
            return false;
        }
        long sequence = writtenSequence + 1;
        long slot = offset + geometry.slotOffset(sequence);
        // plain stores: nobody reads a slot between its acknowledgement and its new sequence
        Memory.copy(payloadBase, payloadOffset, base, slot + PAYLOAD_OFFSET, lengthBytes);
        // of the caller's bytes, not of the slot's, which a peer that shares them can write
        long checksum = SlotChecksum.of(sequence, epoch, payloadBase, payloadOffset, lengthBytes);
        publish(base, slot, sequence, epoch, lengthBytes, checksum);
        lengthsBytes[slotIndex(sequence)] = lengthBytes;
        writtenSequence = sequence;
        return true;
    }

    /**
     * Takes credit: all slots up to this sequence are the writer's again. The caller has learnt of
     * it by a read that orders it before the slots' next use (a message, or an acquire load).
     *
     * @throws RingException where the peer acknowledges what was not written, or takes back
     */
    public void acknowledge(long sequence) {
        if (sequence < acknowledgedSequence || sequence > writtenSequence) {
            throw new RingException(
                    "acknowledgements only grow, up to what was written: acknowledged="
                            + acknowledgedSequence
                            + ", written="
                            + writtenSequence
                            + ", sequence="
                            + sequence);
        }
        acknowledgedSequence = sequence;
    }

    /**
     * Stamps the slots that are not acknowledged, and all later ones, with a new epoch. Only for an
     * image that no reader reads.
     */
    public void moveToEpoch(long newEpoch) {
        moveTo(base, offset, newEpoch);
    }

    /**
     * Goes on in another ring of the same geometry, in which no slot was published, and publishes
     * those there that are not acknowledged. Lengths are the writer's own record: a peer that
     * shares the old ring may have changed it, and spoils its own payloads at most.
     */
    public void moveTo(Object newBase, long newOffset, long newEpoch) {
        for (long sequence = acknowledgedSequence + 1; sequence <= writtenSequence; sequence++) {
            long from = offset + geometry.slotOffset(sequence);
            long to = newOffset + geometry.slotOffset(sequence);
            int lengthBytes = lengthBytes(sequence);
            long checksum = Memory.getLong(base, from + CHECKSUM_OFFSET);
            if (newBase != base || to != from) {
                Memory.copy(base, from + PAYLOAD_OFFSET, newBase, to + PAYLOAD_OFFSET, lengthBytes);
            }
            publish(
                    newBase,
                    to,
                    sequence,
                    newEpoch,
                    lengthBytes,
                    SlotChecksum.inEpoch(checksum, epoch, newEpoch));
        }
        base = newBase;
        offset = newOffset;
        epoch = newEpoch;
    }

    /** The payload stands there already. */
    private static void publish(
            Object base, long slot, long sequence, long epoch, int lengthBytes, long checksum) {
        Memory.putLong(base, slot + EPOCH_OFFSET, epoch);
        Memory.putInt(base, slot + LENGTH_OFFSET, lengthBytes);
        Memory.putInt(base, slot + RESERVED_OFFSET, 0);
        Memory.putLong(base, slot + CHECKSUM_OFFSET, checksum);
        // release: whoever sees the sequence sees the slot
        Memory.putLongRelease(base, slot + SEQUENCE_OFFSET, sequence);
    }

    /** Payload bytes of a slot that is not acknowledged. */
    public int lengthBytes(long sequence) {
        if (sequence <= acknowledgedSequence || sequence > writtenSequence) {
            throw new IllegalArgumentException(
                    "the slot is not held: acknowledged="
                            + acknowledgedSequence
                            + ", written="
                            + writtenSequence
                            + ", sequence="
                            + sequence);
        }
        return lengthsBytes[slotIndex(sequence)];
    }

    private int slotIndex(long sequence) {
        return (int) ((sequence - 1) % geometry.slotCount());
    }

    /** Slots that can be written now. */
    public int credits() {
        return geometry.slotCount() - (int) (writtenSequence - acknowledgedSequence);
    }

    /** Sequence of the last slot written, 0 before the first. */
    public long writtenSequence() {
        return writtenSequence;
    }

    public long acknowledgedSequence() {
        return acknowledgedSequence;
    }

    public long epoch() {
        return epoch;
    }

    public RingGeometry geometry() {
        return geometry;
    }
}
