// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import io.github.gpujoin.core.encoding.ChunkDecoder;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.region.Memory;
import org.jspecify.annotations.Nullable;

/**
 * Represents in Flink's channel a chunk that went through a ring. A ticket is a chunk without rows,
 * 64 bytes long, whose fields locate the chunk.
 *
 * <pre>
 *   the header of {@link ChunkDescriptor}, with
 *     rowCount              0
 *     dimension, partition  those of the chunk: Flink routes the ticket as it would the chunk
 *     epoch                 (int32 channel + 1) &lt;&lt; 32 | int32 low half of the chunk's checksum
 *     sequence              of the ring's slot, from 1 in each attempt; of a shared ring
 *                           int48 of the slot | int16 number of the chunk in it, from 0
 *     checksum              over the ticket
 *
 *   channel:  int14 1 if subtasks share the ring | int1 {@link JoinSide} | int16 sending subtask
 * </pre>
 *
 * <p>The checksum of the slot covers sequence, epoch and length of the slot. The checksum here
 * proves that the copied slot contains the chunk of the ticket. Chunks with rows and chunks of
 * epoch 0 are no tickets.
 */
final class RingTicket {

    /** Maximum of chunks in a slot of a shared ring. */
    static final int MAX_CHUNKS_PER_SLOT = 1 << 16;

    private static final int SUBTASK_BITS = 16;
    private static final int SHARED = 1 << (SUBTASK_BITS + 1);
    private static final int NUMBER_BITS = 16;

    private RingTicket() {}

    /** Writes the tickets of one stream. For one thread. */
    static final class Writer {

        private final int channel;
        private @Nullable ChunkBuilder builder;

        Writer(int channel) {
            this.channel = channel;
        }

        /**
         * Returns the ticket of a chunk.
         *
         * @param sent bytes of the chunk in its slot
         * @param sequence of the chunk's slot, or its {@link #position} in a shared ring
         */
        Chunk write(Chunk chunk, byte[] sent, long sequence) {
            ChunkSchema schema = chunk.schema();
            if (builder == null || !builder.schema().equals(schema)) {
                builder = new ChunkBuilder(schema, 1);
            }
            long epoch = (channel + 1L) << Integer.SIZE | Integer.toUnsignedLong(checksumOf(sent));
            return builder.seal(chunk.dimension(), chunk.partition(), epoch, sequence);
        }
    }

    static boolean isTicket(Chunk chunk) {
        return chunk.rowCount() == 0 && chunk.epoch() != 0;
    }

    /**
     * Returns the channel of the ring from a sending subtask to a subtask of the join.
     *
     * @param subtask index of the sender, 0 to 65,535
     */
    static int channel(JoinSide side, int subtask) {
        return side.ordinal() << SUBTASK_BITS | subtask;
    }

    /**
     * Returns the channel of the ring from a sending subtask to all subtasks of the join in a
     * TaskManager.
     *
     * @param subtask as in {@link #channel}
     */
    static int sharedChannel(JoinSide side, int subtask) {
        return SHARED | channel(side, subtask);
    }

    /** Returns the side whose chunks a channel carries. */
    static JoinSide sideOf(int channel) {
        return JoinSide.values()[channel >> SUBTASK_BITS & 1];
    }

    /**
     * Returns the position of a chunk in a shared ring.
     *
     * @param number of the chunk in its slot, below {@link #MAX_CHUNKS_PER_SLOT}
     */
    static long position(long sequence, int number) {
        return sequence << NUMBER_BITS | number;
    }

    /** Returns the slot of a ticket for a shared ring. */
    static long slotOf(Chunk ticket) {
        return ticket.sequence() >>> NUMBER_BITS;
    }

    /** Returns the number of a chunk in its slot, of a ticket for a shared ring. */
    static int numberOf(Chunk ticket) {
        return (int) ticket.sequence() & MAX_CHUNKS_PER_SLOT - 1;
    }

    /**
     * Whether a ticket is of build rows. All their columns are read, so they are decoded at once.
     */
    static boolean isBuild(Chunk ticket) {
        return ticket.dimension() != ChunkDescriptor.FACTS;
    }

    /**
     * Returns the channel of a ticket. Any int is possible, since another process wrote the ticket.
     */
    static int channelOf(Chunk ticket) {
        return (int) (ticket.epoch() >>> Integer.SIZE) - 1;
    }

    /**
     * Reads the chunk of a ticket. The columns of build rows are decoded at once.
     *
     * @param bytes of the chunk, owned by the chunk from now on
     * @return null if the ticket was written for another chunk
     */
    static @Nullable Chunk tryRead(Chunk ticket, byte[] bytes) {
        long checksum = Memory.getLong(bytes, Memory.BYTES + ChunkDescriptor.CHECKSUM_OFFSET);
        Chunk chunk =
                isBuild(ticket)
                        ? ChunkDecoder.decode(ticket.schema(), bytes)
                        : ChunkDecoder.open(ticket.schema(), bytes);
        return isOf(ticket, chunk, checksum) ? chunk : null;
    }

    /**
     * Whether a ticket was written for a chunk.
     *
     * @param checksum of the chunk as it is in its slot
     */
    static boolean isOf(Chunk ticket, Chunk chunk, long checksum) {
        return hasChecksum(ticket, checksum)
                && ticket.dimension() == chunk.dimension()
                && ticket.partition() == chunk.partition();
    }

    /** Whether the ticket contains the lower half of a checksum. */
    static boolean hasChecksum(Chunk ticket, long checksum) {
        return (int) ticket.epoch() == (int) checksum;
    }

    private static int checksumOf(byte[] bytes) {
        return (int) Memory.getLong(bytes, Memory.BYTES + ChunkDescriptor.CHECKSUM_OFFSET);
    }
}
