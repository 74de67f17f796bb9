package io.github.gpujoin.core.ring;

/**
 * Shape of a ring: how many slots, and how long each is with its header.
 *
 * @param slotCount 1 to 65,536
 * @param slotBytes a multiple of 64, from 128 bytes to 16 MiB + 64 bytes: a header and a payload
 */
public record RingGeometry(int slotCount, int slotBytes) {

    public static final int MAX_SLOTS = 1 << 16;
    public static final int MAX_PAYLOAD_BYTES = 1 << 24;

    /** Longest ring: what every transport can register. */
    public static final long MAX_RING_BYTES = 1L << 30;

    /**
     * @throws IllegalArgumentException where a number is out of its range
     */
    public RingGeometry {
        require(
                slotCount >= 1 && slotCount <= MAX_SLOTS,
                "a ring has 1 to 65536 slots: slotCount=" + slotCount);
        require(
                slotBytes % SlotDescriptor.PAYLOAD_OFFSET == 0
                        && slotBytes >= 2 * SlotDescriptor.PAYLOAD_OFFSET
                        && slotBytes <= MAX_PAYLOAD_BYTES + SlotDescriptor.PAYLOAD_OFFSET,
                "a slot has 128 bytes to 16 MiB + 64 bytes, a multiple of 64: slotBytes="
                        + slotBytes);
        require(
                (long) slotCount * slotBytes <= MAX_RING_BYTES,
                "a ring has at most 1 GiB: slotCount=" + slotCount + ", slotBytes=" + slotBytes);
    }

    /** Slots that hold payloads of up to this many bytes. */
    public static RingGeometry forPayload(int slotCount, int payloadBytes) {
        require(
                payloadBytes >= 1 && payloadBytes <= MAX_PAYLOAD_BYTES,
                "a payload has 1 byte to 16 MiB: payloadBytes=" + payloadBytes);
        int rounded = (payloadBytes + 63) & -64;
        return new RingGeometry(slotCount, SlotDescriptor.PAYLOAD_OFFSET + rounded);
    }

    public int payloadCapacityBytes() {
        return slotBytes - SlotDescriptor.PAYLOAD_OFFSET;
    }

    public long lengthBytes() {
        return (long) slotCount * slotBytes;
    }

    /** Where a sequence's slot starts, counted from the ring's first byte. */
    public long slotOffset(long sequence) {
        return (sequence - 1) % slotCount * slotBytes;
    }

    private static void require(boolean holds, String message) {
        if (!holds) {
            throw new IllegalArgumentException(message);
        }
    }
}
