package io.github.gpujoin.core.ring;

/**
 * Byte layout of a ring and of its slots. All integers are little-endian.
 *
 * <pre>
 *  ring:  slot 0 | slot 1 | ... | slot slotCount - 1        slotBytes each, a multiple of 64
 *
 *  slot:
 *   0                                       8
 *  +---------------------------------------+---------------------------------------+
 *  | sequence                              | epoch                                 |
 *  +---------------------------------------+---------------------------------------+
 *  16                  20                  24
 *  | lengthBytes       | reserved, zero    | checksum                              |
 *  +-------------------+-------------------+---------------------------------------+
 *  32: reserved, never written
 *  64: payload: lengthBytes, whole words; a chunk starts here on a cache line of its own
 * </pre>
 *
 * <p>Sequences count from 1, and sequence n stands in slot (n - 1) mod slotCount; memory of zero
 * bytes is therefore an empty ring. The sequence is written last, with release order, and is the
 * flag of the slot: it says that the rest was sent. The checksum says that the rest is there. A
 * reader needs both, because bytes that a network card writes may become visible out of order, to a
 * GPU most of all (Thostrup et al., "Distributed GPU Joins on Fast RDMA-capable Networks", 4.2).
 *
 * <p>A chunk never spans slots. So a slot can be checked, given back and sent again by itself, and
 * a block of GPU threads can claim it without a look at its neighbours.
 */
public final class SlotDescriptor {

    public static final int SEQUENCE_OFFSET = 0;
    public static final int EPOCH_OFFSET = 8;
    public static final int LENGTH_OFFSET = 16;
    public static final int RESERVED_OFFSET = 20;
    public static final int CHECKSUM_OFFSET = 24;

    /** Header bytes that a writer fills; the rest of the header keeps the payload aligned. */
    public static final int USED_HEADER_BYTES = 32;

    public static final int PAYLOAD_OFFSET = 64;

    private SlotDescriptor() {}
}
