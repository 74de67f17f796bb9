// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
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
 * <p>Sequences count from 1. Sequence n is in slot (n - 1) mod slotCount, so zeroed memory is an
 * empty ring. The writer stores the sequence last, with release order: it marks the slot as sent.
 * The checksum proves that the rest of the slot has arrived. A reader needs both, because the
 * writes of a network card may become visible out of order, especially to a GPU (Thostrup et al.,
 * "Distributed GPU Joins on Fast RDMA-capable Networks", section 4.2).
 *
 * <p>The epoch is the number of the writer's connection, so that slots of an earlier connection are
 * rejected. {@link RingWriter} and {@link RingReader} implement the protocol; the checksum covers
 * sequence, epoch, length and payload.
 *
 * <p>A chunk never spans slots. A slot can therefore be checked, released and sent again by itself,
 * and a block of GPU threads can claim it without reading its neighbours.
 */
public final class SlotDescriptor {

    public static final int SEQUENCE_OFFSET = 0;
    public static final int EPOCH_OFFSET = 8;
    public static final int LENGTH_OFFSET = 16;
    public static final int RESERVED_OFFSET = 20;
    public static final int CHECKSUM_OFFSET = 24;

    /** Header bytes that a writer fills. The rest of the header aligns the payload. */
    public static final int USED_HEADER_BYTES = 32;

    public static final int PAYLOAD_OFFSET = 64;

    private SlotDescriptor() {}
}
