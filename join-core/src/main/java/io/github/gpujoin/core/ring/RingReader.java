package io.github.gpujoin.core.ring;

import static io.github.gpujoin.core.ring.SlotDescriptor.CHECKSUM_OFFSET;
import static io.github.gpujoin.core.ring.SlotDescriptor.EPOCH_OFFSET;
import static io.github.gpujoin.core.ring.SlotDescriptor.LENGTH_OFFSET;
import static io.github.gpujoin.core.ring.SlotDescriptor.PAYLOAD_OFFSET;
import static io.github.gpujoin.core.ring.SlotDescriptor.SEQUENCE_OFFSET;
import static io.github.gpujoin.core.ring.SlotDescriptor.USED_HEADER_BYTES;

import io.github.gpujoin.core.region.Memory;

/**
 * The reading end of a ring: takes slots in order, each when it is whole.
 *
 * <pre>
 *   peek() -> READY     the header holds, and is within the ring's own bounds
 *   copyTo() -> true    the payload was whole, and the copy is that payload
 *   release()           the slot may be the writer's again
 * </pre>
 *
 * <p>A slot never holds still, not even one that was whole a moment ago. Credit keeps the writer
 * away from it, but not what its network still carries: a body of an earlier round that was sent
 * twice, or was held up, may land late, over the body of the round that is read now. It is a chunk
 * like any other, with the same length more often than not, and holds against every checksum of its
 * own. So a payload is not looked at in place: it leaves its slot as a copy, and the slot's
 * checksum, which covers sequence and epoch, is computed of the words that the copy got. Whatever
 * lands before, between or after those loads, the copy is the payload of this sequence or is
 * refused. A slot that was spoilt stays torn until the writer sends it again, in another epoch.
 *
 * <p>For one thread at a time.
 */
public final class RingReader {

    private final Object base;
    private final RingView view;
    private final RingGeometry geometry;
    private final long epoch;
    private long releasedSequence;

    /** The next sequence where its header was found to hold, else the released one. */
    private long readySequence;

    /** The next sequence where its payload was found whole, else the released one. */
    private long wholeSequence;

    private int lengthBytes;

    /**
     * @param base byte array, or null for native memory, as in {@link Memory}; aligned to 8 bytes
     * @param offset of {@link RingGeometry#lengthBytes()} bytes
     * @param releasedSequence the last sequence that is done with; the next one is read first
     */
    public RingReader(
            Object base, long offset, RingGeometry geometry, long epoch, long releasedSequence) {
        this(base, RingView.inPlace(offset), geometry, epoch, releasedSequence);
    }

    /** As the other, of a ring that is seen through a view. */
    public RingReader(RingView view, RingGeometry geometry, long epoch, long releasedSequence) {
        this(null, view, geometry, epoch, releasedSequence);
    }

    private RingReader(
            Object base, RingView view, RingGeometry geometry, long epoch, long releasedSequence) {
        this.base = base;
        this.view = view;
        this.geometry = geometry;
        this.epoch = epoch;
        this.releasedSequence = releasedSequence;
        this.readySequence = releasedSequence;
        this.wholeSequence = releasedSequence;
    }

    /**
     * Looks at the header of the next slot, anew each time. READY says that the slot was sent, not
     * that its payload is there.
     *
     * @throws RingException where the writer wrote ahead of its credit
     */
    public SlotState peek() {
        long sequence = releasedSequence + 1;
        readySequence = releasedSequence;
        wholeSequence = releasedSequence;
        long slot = view.at(geometry.slotOffset(sequence), USED_HEADER_BYTES);
        // acquire: what is read below is at least as new as the sequence
        long seen = Memory.getLongAcquire(base, slot + SEQUENCE_OFFSET);
        if (seen != sequence) {
            checkNotAhead(seen, sequence);
            return SlotState.EMPTY;
        }
        int length = Memory.getInt(base, slot + LENGTH_OFFSET);
        if (Memory.getLong(base, slot + EPOCH_OFFSET) != epoch
                || length < 8
                || length % 8 != 0
                || length > geometry.payloadCapacityBytes()) {
            return SlotState.TORN;
        }
        lengthBytes = length;
        readySequence = sequence;
        return SlotState.READY;
    }

    /**
     * Looks at all of the next slot, anew each time: what a faulty network did to it since the last
     * look shows.
     *
     * @throws RingException where the writer wrote ahead of its credit
     */
    public SlotState poll() {
        SlotState state = peek();
        if (state != SlotState.READY) {
            return state;
        }
        long slot = readySlot();
        long checksum = Memory.getLong(base, slot + CHECKSUM_OFFSET);
        if (SlotChecksum.of(readySequence, epoch, base, slot + PAYLOAD_OFFSET, lengthBytes)
                != checksum) {
            return SlotState.TORN;
        }
        wholeSequence = readySequence;
        return SlotState.READY;
    }

    /** Bytes of the payload of a ready slot. */
    public int lengthBytes() {
        requireReady();
        return lengthBytes;
    }

    /**
     * Copies the payload of a ready slot out.
     *
     * @param payload of {@link #lengthBytes()}
     * @return false where the slot is torn: the array holds nothing of use, and the slot is to be
     *     looked at again
     */
    public boolean copyTo(byte[] payload) {
        requireReady();
        if (payload.length != lengthBytes) {
            throw new IllegalArgumentException(
                    "a payload is copied as a whole: lengthBytes="
                            + lengthBytes
                            + ", arrayBytes="
                            + payload.length);
        }
        long slot = readySlot();
        long checksum = Memory.getLong(base, slot + CHECKSUM_OFFSET);
        boolean isWhole =
                SlotChecksum.ofCopy(readySequence, epoch, base, slot + PAYLOAD_OFFSET, payload)
                        == checksum;
        wholeSequence = isWhole ? readySequence : releasedSequence;
        return isWhole;
    }

    /** The slot as it is now: through a view, not as it was when its header was looked at. */
    private long readySlot() {
        return view.at(geometry.slotOffset(readySequence), PAYLOAD_OFFSET + lengthBytes);
    }

    /** Is done with a whole slot, whose bytes are the writer's from its acknowledgement on. */
    public void release() {
        if (wholeSequence == releasedSequence) {
            throw new IllegalStateException(
                    "a slot is given back once it was found whole: releasedSequence="
                            + releasedSequence);
        }
        releasedSequence = wholeSequence;
    }

    /** The last sequence that is done with: what the writer may be told. */
    public long releasedSequence() {
        return releasedSequence;
    }

    private void requireReady() {
        if (readySequence == releasedSequence) {
            throw new IllegalStateException(
                    "a slot is read after a look at it said READY: releasedSequence="
                            + releasedSequence);
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
