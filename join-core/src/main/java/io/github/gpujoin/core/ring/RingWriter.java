// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.ring;

import static io.github.gpujoin.core.ring.SlotDescriptor.CHECKSUM_OFFSET;
import static io.github.gpujoin.core.ring.SlotDescriptor.EPOCH_OFFSET;
import static io.github.gpujoin.core.ring.SlotDescriptor.LENGTH_OFFSET;
import static io.github.gpujoin.core.ring.SlotDescriptor.PAYLOAD_OFFSET;
import static io.github.gpujoin.core.ring.SlotDescriptor.RESERVED_OFFSET;
import static io.github.gpujoin.core.ring.SlotDescriptor.SEQUENCE_OFFSET;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.WordSum;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The writing end of a ring. Fills slots in order, and only slots that the reader released.
 *
 * <p>The memory is either the ring itself, if the reader shares it, or a local image whose slots a
 * transport copies to the reader. A slot keeps its payload until it is {@link #acknowledge}d, so
 * that the writer can send it again in another epoch ({@link #moveToEpoch}) or in another ring
 * ({@link #moveTo}).
 *
 * <p>Only one thread at a time may use it.
 */
public final class RingWriter {

    private final RingGeometry geometry;
    private final int[] lengthsBytes;
    private @Nullable Object base;
    private long offset;
    private long epoch;
    private long writtenSequence;
    private long acknowledgedSequence;

    /**
     * @param base byte array, or null for native memory, as in {@link Memory}; aligned to 8 bytes
     * @param offset of {@link RingGeometry#lengthBytes()} bytes
     */
    public RingWriter(@Nullable Object base, long offset, RingGeometry geometry, long epoch) {
        this.base = base;
        this.offset = offset;
        this.geometry = geometry;
        this.lengthsBytes = new int[geometry.slotCount()];
        this.epoch = epoch;
    }

    /**
     * Writes and publishes a slot.
     *
     * @param lengthBytes length of the payload: a positive multiple of 8
     * @return false if there is no credit: no slot is free until the next acknowledgement
     */
    public boolean tryWrite(@Nullable Object payloadBase, long payloadOffset, int lengthBytes) {
        requireFits(lengthBytes);
        // From the caller's bytes: a peer that shares the ring could modify the slot.
        return credits() > 0
                && tryWrite(
                        payloadBase,
                        payloadOffset,
                        lengthBytes,
                        WordSum.of(payloadBase, payloadOffset, lengthBytes >>> 3, 1));
    }

    /**
     * Does the same for a payload whose sum is known, which saves a pass over it.
     *
     * @param payloadSum {@link WordSum} of the payload from position 1; if it is wrong, no reader
     *     ever finds the slot whole
     */
    public boolean tryWrite(
            @Nullable Object payloadBase, long payloadOffset, int lengthBytes, long payloadSum) {
        requireFits(lengthBytes);
        if (credits() == 0) {
            return false;
        }
        Memory.copy(payloadBase, payloadOffset, base, nextPayload(), lengthBytes);
        publishNext(lengthBytes, payloadSum);
        return true;
    }

    /**
     * Does the same for the payload of several parts.
     *
     * @param parts as in {@link SlotParts}, each a positive multiple of 8 bytes long
     */
    public boolean tryWrite(List<byte[]> parts) {
        int lengthBytes = SlotParts.lengthBytes(parts);
        requireFits(lengthBytes);
        if (credits() == 0) {
            return false;
        }
        SlotParts.copyTo(parts, base, nextPayload());
        // From the caller's bytes: a peer that shares the ring could modify the slot.
        publishNext(lengthBytes, SlotParts.wordSum(parts));
        return true;
    }

    /**
     * Returns the place of the next payload. Plain stores may fill it: the reader does not read a
     * slot between its release and its new sequence.
     */
    private long nextPayload() {
        return offset + geometry.slotOffset(writtenSequence + 1) + PAYLOAD_OFFSET;
    }

    private void publishNext(int lengthBytes, long payloadSum) {
        long sequence = writtenSequence + 1;
        long slot = offset + geometry.slotOffset(sequence);
        long checksum = SlotChecksum.of(sequence, epoch, lengthBytes, payloadSum);
        publish(base, slot, sequence, epoch, lengthBytes, checksum);
        lengthsBytes[slotIndex(sequence)] = lengthBytes;
        writtenSequence = sequence;
    }

    private void requireFits(int lengthBytes) {
        if (lengthBytes < 8
                || lengthBytes % 8 != 0
                || lengthBytes > geometry.payloadCapacityBytes()) {
            throw new IllegalArgumentException(
                    "Payload length is no multiple of 8 from 8 to the slot's capacity: lengthBytes="
                            + lengthBytes
                            + ", capacityBytes="
                            + geometry.payloadCapacityBytes());
        }
    }

    /**
     * Frees all slots up to a sequence that the reader released. The caller must have read the
     * sequence from a message or by an acquire load, which orders it before the slots' next use.
     *
     * @throws RingException if the sequence was never written, or is below an earlier one
     */
    public void acknowledge(long sequence) {
        if (sequence < acknowledgedSequence || sequence > writtenSequence) {
            throw new RingException(
                    "Peer acknowledged a sequence that was not written, or went back: acknowledged="
                            + acknowledgedSequence
                            + ", written="
                            + writtenSequence
                            + ", sequence="
                            + sequence);
        }
        acknowledgedSequence = sequence;
    }

    /**
     * Marks all slots that are not acknowledged, and later ones, with a new epoch. Legal only for
     * an image that no reader reads.
     */
    public void moveToEpoch(long newEpoch) {
        moveTo(base, offset, newEpoch);
    }

    /**
     * Continues in another, unused ring of the same geometry: copies and publishes the slots that
     * are not acknowledged. Lengths come from the writer's own memory, so that a peer that modifies
     * the old ring can only damage its own payloads.
     */
    public void moveTo(@Nullable Object newBase, long newOffset, long newEpoch) {
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

    /** Writes the header of a slot whose payload is already written. */
    private static void publish(
            @Nullable Object base,
            long slot,
            long sequence,
            long epoch,
            int lengthBytes,
            long checksum) {
        Memory.putLong(base, slot + EPOCH_OFFSET, epoch);
        Memory.putInt(base, slot + LENGTH_OFFSET, lengthBytes);
        Memory.putInt(base, slot + RESERVED_OFFSET, 0);
        Memory.putLong(base, slot + CHECKSUM_OFFSET, checksum);
        // Release: a reader that sees the sequence sees the whole slot.
        Memory.putLongRelease(base, slot + SEQUENCE_OFFSET, sequence);
    }

    /** Returns the payload bytes of a slot that is not acknowledged. */
    public int lengthBytes(long sequence) {
        if (sequence <= acknowledgedSequence || sequence > writtenSequence) {
            throw new IllegalArgumentException(
                    "Slot is not in use: acknowledged="
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

    /** Returns the number of slots that can be written now. */
    public int credits() {
        return geometry.slotCount() - (int) (writtenSequence - acknowledgedSequence);
    }

    /** Returns the sequence of the last written slot, or 0 before the first. */
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
