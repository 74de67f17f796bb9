// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.ring;

/**
 * Shape of a ring: the number and the length of its slots.
 *
 * @param slotCount 1 to 65,536
 * @param slotBytes header and payload of a slot: a multiple of 64, from 128 bytes to 16 MiB + 64
 *     bytes. All slots together have at most {@link #MAX_RING_BYTES} bytes.
 */
public record RingGeometry(int slotCount, int slotBytes) {

    public static final int MAX_SLOTS = 1 << 16;
    public static final int MAX_PAYLOAD_BYTES = 1 << 24;

    /** Maximum length of a ring: every transport can register this much. */
    public static final long MAX_RING_BYTES = 1L << 30;

    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException if a number is out of range, or the ring exceeds {@link
     *     #MAX_RING_BYTES}
     */
    public RingGeometry {
        require(
                slotCount >= 1 && slotCount <= MAX_SLOTS,
                "Number of slots is out of range (1 to 65536): slotCount=" + slotCount);
        require(
                slotBytes % SlotDescriptor.PAYLOAD_OFFSET == 0
                        && slotBytes >= 2 * SlotDescriptor.PAYLOAD_OFFSET
                        && slotBytes <= MAX_PAYLOAD_BYTES + SlotDescriptor.PAYLOAD_OFFSET,
                "Slot length is no multiple of 64 from 128 bytes to 16 MiB + 64 bytes: slotBytes="
                        + slotBytes);
        require(
                (long) slotCount * slotBytes <= MAX_RING_BYTES,
                "Ring exceeds 1 GiB: slotCount=" + slotCount + ", slotBytes=" + slotBytes);
    }

    /**
     * Returns a geometry whose slots hold payloads of up to {@code payloadBytes}, rounded up to a
     * multiple of 64 bytes.
     *
     * @param payloadBytes 1 to {@value #MAX_PAYLOAD_BYTES}
     * @throws IllegalArgumentException if a number is out of range, or the ring exceeds {@link
     *     #MAX_RING_BYTES}
     */
    public static RingGeometry forPayload(int slotCount, int payloadBytes) {
        require(
                payloadBytes >= 1 && payloadBytes <= MAX_PAYLOAD_BYTES,
                "Payload length is out of range (1 byte to 16 MiB): payloadBytes=" + payloadBytes);
        int rounded = (payloadBytes + 63) & -64;
        return new RingGeometry(slotCount, SlotDescriptor.PAYLOAD_OFFSET + rounded);
    }

    /** Returns the length of the longest payload of a slot. */
    public int payloadCapacityBytes() {
        return slotBytes - SlotDescriptor.PAYLOAD_OFFSET;
    }

    /** Returns the length of the ring: all slots with their headers. */
    public long lengthBytes() {
        return (long) slotCount * slotBytes;
    }

    /**
     * Returns the offset in the ring of the slot of a sequence, in bytes.
     *
     * @param sequence at least 1; not checked
     */
    public long slotOffset(long sequence) {
        return (sequence - 1) % slotCount * slotBytes;
    }

    private static void require(boolean holds, String message) {
        if (!holds) {
            throw new IllegalArgumentException(message);
        }
    }
}
