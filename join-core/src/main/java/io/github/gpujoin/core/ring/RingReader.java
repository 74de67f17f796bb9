// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.ring;

import static io.github.gpujoin.core.ring.SlotDescriptor.CHECKSUM_OFFSET;
import static io.github.gpujoin.core.ring.SlotDescriptor.EPOCH_OFFSET;
import static io.github.gpujoin.core.ring.SlotDescriptor.LENGTH_OFFSET;
import static io.github.gpujoin.core.ring.SlotDescriptor.PAYLOAD_OFFSET;
import static io.github.gpujoin.core.ring.SlotDescriptor.SEQUENCE_OFFSET;
import static io.github.gpujoin.core.ring.SlotDescriptor.USED_HEADER_BYTES;

import io.github.gpujoin.core.region.Memory;
import org.jspecify.annotations.Nullable;

/**
 * The reading end of a ring. Reads slots in order, and only complete payloads.
 *
 * <pre>
 *   peek() -> READY     the header is valid and within the bounds of the ring
 *   copyTo() -> true    the copy is the complete payload
 *   release()           the writer may reuse the slot
 *
 *   peek() or poll() -> READY
 *   take()              the payload is read in place
 *   its release()       the writer may reuse the slot
 * </pre>
 *
 * <p>A slot may change at any time, even after it was complete. Credit stops the writer, but not
 * its network: a payload of an earlier round that was sent twice or delayed may arrive late and
 * overwrite the current one. It often has the same length, and any checksum of its own is valid. So
 * there are two ways to read:
 *
 * <ul>
 *   <li>{@link #copyTo} copies the payload out, and computes the slot's checksum, which covers
 *       sequence and epoch, from the words of the copy. The copy is then either the payload of this
 *       sequence or rejected, whatever arrives meanwhile.
 *   <li>{@link #take} leaves the payload in the slot. Its reader decides where bytes are by no byte
 *       of the slot that it has not copied first. It either copies and verifies the rest, as a GPU
 *       does, or reads what {@link #poll} verified, and checks {@link TakenPayload#isIntact} once
 *       more behind its last read if the transport may write late.
 * </ul>
 *
 * <p>An overwritten slot stays torn until the writer sends it again in another epoch.
 *
 * <p>Only one thread at a time may use it.
 */
public final class RingReader {

    private static final long NONE = 0;

    private final @Nullable Object base;
    private final RingView view;
    private final RingGeometry geometry;
    private final long epoch;
    private final ReadWindow window;

    /** The next sequence if its header was valid, else 0. */
    private long readySequence;

    /** The next sequence if its payload was complete, else 0. */
    private long wholeSequence;

    private int lengthBytes;

    /**
     * Creates a reader of a ring in host memory.
     *
     * @param base byte array, or null for native memory, as in {@link Memory}; aligned to 8 bytes
     * @param offset of {@link RingGeometry#lengthBytes()} bytes
     * @param releasedSequence last released sequence; the next one is read first
     */
    public RingReader(
            @Nullable Object base,
            long offset,
            RingGeometry geometry,
            long epoch,
            long releasedSequence) {
        this(
                base,
                RingView.inPlace(offset),
                geometry,
                epoch,
                new ReadWindow(geometry.slotCount(), releasedSequence));
    }

    /** Creates a reader of a ring that is read through a view. */
    public RingReader(RingView view, RingGeometry geometry, long epoch, long releasedSequence) {
        this(view, geometry, epoch, new ReadWindow(geometry.slotCount(), releasedSequence));
    }

    /**
     * Creates a reader that continues behind the slots which an earlier reader has taken.
     *
     * @param window of the earlier reader, which must not be used any more
     */
    public RingReader(RingView view, RingGeometry geometry, long epoch, ReadWindow window) {
        this(null, view, geometry, epoch, window);
    }

    private RingReader(
            @Nullable Object base,
            RingView view,
            RingGeometry geometry,
            long epoch,
            ReadWindow window) {
        this.base = base;
        this.view = view;
        this.geometry = geometry;
        this.epoch = epoch;
        this.window = window;
    }

    /**
     * Rereads the header of the next slot. READY means that the slot was sent; its payload may
     * still be incomplete.
     *
     * @throws RingException if the writer wrote without credit
     */
    public SlotState peek() {
        long sequence = window.takenSequence() + 1;
        readySequence = NONE;
        wholeSequence = NONE;
        if (window.heldCount() == geometry.slotCount()) {
            return SlotState.EMPTY;
        }
        long slot = view.at(geometry.slotOffset(sequence), USED_HEADER_BYTES);
        // Acquire: the loads below are at least as new as the sequence.
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
     * Rereads the header and the payload of the next slot.
     *
     * @throws RingException if the writer wrote without credit
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

    /** Returns the payload bytes of a ready slot. */
    public int lengthBytes() {
        requireReady();
        return lengthBytes;
    }

    /**
     * Copies the payload of a ready slot.
     *
     * @param payload array of {@link #lengthBytes()}
     * @return false if the slot is torn: the array content is undefined; peek again
     */
    public boolean copyTo(byte[] payload) {
        requireReady();
        if (payload.length != lengthBytes) {
            throw new IllegalArgumentException(
                    "Array and payload differ in length: lengthBytes="
                            + lengthBytes
                            + ", arrayBytes="
                            + payload.length);
        }
        long slot = readySlot();
        long checksum = Memory.getLong(base, slot + CHECKSUM_OFFSET);
        boolean isWhole =
                SlotChecksum.ofCopy(readySequence, epoch, base, slot + PAYLOAD_OFFSET, payload)
                        == checksum;
        wholeSequence = isWhole ? readySequence : NONE;
        return isWhole;
    }

    /** Returns the address of the slot's current content; a view may copy it again. */
    private long readySlot() {
        return view.at(geometry.slotOffset(readySequence), PAYLOAD_OFFSET + lengthBytes);
    }

    /** Returns the address of a ready slot's payload, whose bytes may change. */
    public long payloadAddress() {
        return readySlot() + PAYLOAD_OFFSET;
    }

    /** Takes a ready slot, whose payload stays where it is. Legal for rings in host memory only. */
    public TakenPayload take() {
        requireReady();
        long slot = readySlot();
        TakenPayload taken =
                new TakenPayload(
                        base,
                        slot + PAYLOAD_OFFSET,
                        lengthBytes,
                        readySequence,
                        epoch,
                        Memory.getLong(base, slot + CHECKSUM_OFFSET),
                        window);
        advance();
        return taken;
    }

    private long advance() {
        readySequence = NONE;
        wholeSequence = NONE;
        return window.take();
    }

    /** Releases a complete slot. The writer owns it once it learns of the release. */
    public void release() {
        if (wholeSequence == NONE) {
            throw new IllegalStateException(
                    "Slot is released before its payload was complete: releasedSequence="
                            + window.releasedSequence());
        }
        window.release(advance());
    }

    /** Returns the slots that were taken; a later reader continues with it. */
    public ReadWindow window() {
        return window;
    }

    /** Returns the last released sequence, which the writer may be sent as its credit. */
    public long releasedSequence() {
        return window.releasedSequence();
    }

    private void requireReady() {
        if (readySequence == NONE) {
            throw new IllegalStateException(
                    "Slot is read before peek() returned READY: releasedSequence="
                            + window.releasedSequence());
        }
    }

    /** Checks that a slot contains its own sequence, one of an earlier round, or zero. */
    private void checkNotAhead(long seen, long sequence) {
        if (seen < 0 || seen > sequence) {
            throw new RingException(
                    "Writer overwrote a slot that was not released: sequence="
                            + sequence
                            + ", found="
                            + seen
                            + ", slotCount="
                            + geometry.slotCount());
        }
    }
}
