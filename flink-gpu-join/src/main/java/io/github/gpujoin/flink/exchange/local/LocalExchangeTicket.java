// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.local;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;

/**
 * Represents in Flink's channel a chunk that is passed by reference. A ticket is a chunk without
 * rows, 64 bytes long, whose header describes the chunk.
 *
 * <pre>
 *   the header of {@link ChunkDescriptor}, with
 *     rowCount  0
 *     epoch     int31 hash of the edge                &lt;&lt; 32 | int32 attempt of the sender + 1
 *     sequence  int32 number of the ticket, from 0       &lt;&lt; 32 | int32 checksum of the chunk's header
 *     checksum  over the ticket
 * </pre>
 *
 * <p>The checksum of the chunk's header covers row count, length, dimension, partition and
 * sequence. The payload needs no checksum, because no thread copies it.
 */
final class LocalExchangeTicket {

    private LocalExchangeTicket() {}

    /** Writes the tickets of one sender. For one thread. */
    static final class Writer {

        private final ChunkBuilder builder;
        private final long epoch;
        private int number;

        Writer(OneToOneEdge edge, ChunkSchema schema) {
            this.builder = new ChunkBuilder(schema, 1);
            this.epoch = epochOf(edge);
        }

        /** Returns a ticket with the next number, which {@link #sent} uses up. */
        Chunk write(Chunk chunk) {
            long sequence =
                    (long) number << Integer.SIZE | Integer.toUnsignedLong(checksumOf(chunk));
            return builder.seal(
                    ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, epoch, sequence);
        }

        /** Records that the last ticket is sent. */
        void sent() {
            number++;
        }
    }

    static boolean isTicket(Chunk chunk) {
        return chunk.rowCount() == 0 && chunk.epoch() != 0;
    }

    /** Whether a ticket is of an edge and has a number there. */
    static boolean isFor(Chunk ticket, OneToOneEdge edge, int number) {
        return ticket.epoch() == epochOf(edge) && numberOf(ticket) == number;
    }

    /** Whether the ticket was written for the chunk. */
    static boolean describes(Chunk ticket, Chunk chunk) {
        return (int) ticket.sequence() == checksumOf(chunk);
    }

    static String describe(Chunk ticket) {
        return "[attempt="
                + ((int) ticket.epoch() - 1)
                + ", number="
                + numberOf(ticket)
                + ", checksum="
                + Integer.toHexString((int) ticket.sequence())
                + "]";
    }

    private static int numberOf(Chunk ticket) {
        return (int) (ticket.sequence() >>> Integer.SIZE);
    }

    /**
     * A positive epoch of an edge. Epoch 0 marks chunks that are no tickets, and load marks have
     * negative epochs.
     */
    private static long epochOf(OneToOneEdge edge) {
        int attempt = edge.partition().getProducerId().getAttemptNumber() + 1;
        return (edge.hashCode() & (long) Integer.MAX_VALUE) << Integer.SIZE | attempt;
    }

    private static int checksumOf(Chunk chunk) {
        return Long.hashCode(chunk.headerChecksum());
    }
}
