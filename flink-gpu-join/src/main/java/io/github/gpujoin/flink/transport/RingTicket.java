package io.github.gpujoin.flink.transport;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;

/**
 * What stands in Flink's channel for a chunk that went through a ring: a chunk without rows, 64
 * bytes, whose fields say where the chunk is.
 *
 * <pre>
 *   the header of {@link ChunkDescriptor}, with
 *     rowCount              0
 *     dimension, partition  those of the chunk: Flink routes the ticket as it would the chunk
 *     epoch                 (int32 channel + 1) &lt;&lt; 32 | int32 attempt
 *     sequence              of the ring's slot, from 1 in each attempt
 *     checksum              over the ticket
 *
 *   channel:  int15 {@link JoinInput} | int16 sending subtask
 * </pre>
 *
 * <p>Length and checksum of the payload stand in the slot and in the chunk itself. Chunks with rows
 * and chunks of epoch 0 are no tickets.
 */
final class RingTicket {

    private static final int SUBTASK_BITS = 16;

    private RingTicket() {}

    /** Makes tickets of one stream, for one thread. */
    static final class Writer {

        private final long epoch;
        private ChunkBuilder builder;

        /**
         * @param attempt of the sending subtask, from 0
         */
        Writer(int channel, int attempt) {
            this.epoch = (channel + 1L) << Integer.SIZE | attempt;
        }

        /** The ticket for a chunk in the slot of that sequence. */
        Chunk write(Chunk chunk, long sequence) {
            ChunkSchema schema = chunk.schema();
            if (builder == null || !builder.schema().equals(schema)) {
                builder = new ChunkBuilder(schema, 1);
            }
            return builder.seal(chunk.dimension(), chunk.partition(), epoch, sequence);
        }
    }

    static boolean isTicket(Chunk chunk) {
        return chunk.rowCount() == 0 && chunk.epoch() != 0;
    }

    /**
     * Number of the ring between a sending subtask and a subtask of the join.
     *
     * @param subtask that sends, 0 to 65,535
     */
    static int channel(JoinInput input, int subtask) {
        return input.ordinal() << SUBTASK_BITS | subtask;
    }

    /** Any int: tickets come from outside. */
    static int channelOf(Chunk ticket) {
        return (int) (ticket.epoch() >>> Integer.SIZE) - 1;
    }

    /** Any int: tickets come from outside. */
    static int attemptOf(Chunk ticket) {
        return (int) ticket.epoch();
    }
}
