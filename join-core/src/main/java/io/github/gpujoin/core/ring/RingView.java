package io.github.gpujoin.core.ring;

/**
 * How a reader, who loads from memory of the host alone, gets at its ring: a ring in memory of the
 * host is loaded from in place, one in a device's memory is copied out of, piece by piece.
 */
@FunctionalInterface
public interface RingView {

    /**
     * Shows bytes of the ring as they are now, and with them all that was written before whatever
     * an earlier call has shown. So who has seen a slot's sequence, by an acquire load, and then
     * asks for the slot gets what was written before it.
     *
     * @param offsetBytes from the ring's first byte, a multiple of 64
     * @param lengthBytes up to {@link RingGeometry#slotBytes}
     * @return where they can be loaded from until the next call
     */
    long at(long offsetBytes, int lengthBytes);

    /**
     * Shows a ring where it is.
     *
     * @param offset of its first byte: an address, or in the array that the reader loads from
     */
    static RingView inPlace(long offset) {
        return (offsetBytes, lengthBytes) -> offset + offsetBytes;
    }
}
