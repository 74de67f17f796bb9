// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import io.github.gpujoin.core.encoding.ChunkDecoder;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkHeader;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.slot.CountedSlot;
import io.github.gpujoin.rdma.session.ReaderSession;
import io.github.gpujoin.rdma.session.SessionException;
import io.github.gpujoin.rdma.session.TakenSlot;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.apache.flink.runtime.execution.CancelTaskException;
import org.apache.flink.runtime.metrics.TimerGauge;
import org.jspecify.annotations.Nullable;

/** The receiving end of one ring. */
final class ReaderEnd extends RingEnd {

    private static final long MIN_POLL_INTERVAL_NS = 10_000;
    private static final long MAX_POLL_INTERVAL_NS = 1_000_000;

    private final ReaderSession session;
    private final int maxHeldSlots;
    private final long maxWaitNs;
    private volatile long payloadBytesCopied;
    private volatile int heldSlots;

    /**
     * @param session which this end closes
     * @param maxHeldSlots slots that may be read in place at once; the writer needs the others
     * @param maxWaitNs longest wait for the chunk of a ticket
     */
    ReaderEnd(ReaderSession session, int maxHeldSlots, long maxWaitNs) {
        this.session = session;
        this.maxHeldSlots = maxHeldSlots;
        this.maxWaitNs = maxWaitNs;
    }

    /** Returns the bytes of payloads that the CPU copied out of the ring. */
    long payloadBytesCopied() {
        return payloadBytesCopied;
    }

    /**
     * Returns the number of slots for which the writer has no credit: chunks that are read in
     * place, and those copied behind one of them, since credit is returned in order.
     */
    int heldSlots() {
        return heldSlots;
    }

    /** Whether the next chunk may be read in place. */
    boolean hasRoom() {
        return heldSlots < maxHeldSlots || heldSlots == 0;
    }

    /**
     * Receives the chunk of a ticket, and waits until it arrives. For the mailbox thread.
     *
     * @param access how the payload is read; a chunk with variable-width columns, a build chunk
     *     with encoded columns, and a chunk that would leave the writer too few slots, is always
     *     copied
     * @param cancelled whether the task is cancelled; polled during the wait
     * @param idle counts waits as idle time
     * @return a chunk validated like every chunk of another process, whose user is the caller
     * @throws SessionException if the session with the sender has failed
     * @throws IllegalStateException if the ticket is not for the next chunk, or the chunk does not
     *     arrive in time
     */
    Chunk receive(Chunk ticket, PayloadAccess access, BooleanSupplier cancelled, TimerGauge idle)
            throws SessionException {
        try {
            return await(ticket, access, cancelled, idle);
        } catch (InternalError e) {
            throw sessionFailure(e);
        }
    }

    private Chunk await(
            Chunk ticket, PayloadAccess access, BooleanSupplier cancelled, TimerGauge idle)
            throws SessionException {
        long startNs = System.nanoTime();
        long waitNs = MIN_POLL_INTERVAL_NS;
        Chunk chunk;
        while ((chunk = poll(ticket, access)) == null) {
            if (cancelled.getAsBoolean() || Thread.currentThread().isInterrupted()) {
                throw new CancelTaskException(
                        "The task was cancelled while it waited for a chunk.");
            }
            if (System.nanoTime() - startNs > maxWaitNs) {
                throw mismatch("Chunk of a ticket did not arrive in time", ticket);
            }
            idle.markStart();
            LockSupport.parkNanos(waitNs);
            idle.markEnd();
            waitNs = Math.min(2 * waitNs, MAX_POLL_INTERVAL_NS);
        }
        return chunk;
    }

    private @Nullable Chunk poll(Chunk ticket, PayloadAccess access) throws SessionException {
        lock.lock();
        try {
            step(System.nanoTime());
            checkNotFailed();
            return session.poll() ? tryRead(ticket, access) : null;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Reads the next slot.
     *
     * @return null if the slot has not fully arrived; the caller polls again, and the session
     *     requests a retransmission if that does not help
     */
    private @Nullable Chunk tryRead(Chunk ticket, PayloadAccess access) {
        if (ticket.sequence() != session.readSequence() + 1) {
            throw mismatch("Ticket is not for the next chunk of its ring", ticket);
        }
        boolean mayStay =
                access != PayloadAccess.COPY
                        && !ticket.schema().hasVariableWidth()
                        && session.isReadableInPlace()
                        && session.heldCount() < maxHeldSlots
                        && session.lengthBytes() >= ChunkDescriptor.HEADER_BYTES;
        if (mayStay) {
            byte[] header = new byte[ChunkDescriptor.HEADER_BYTES];
            Memory.copy(null, session.payloadAddress(), header, Memory.BYTES, header.length);
            long checksum = Memory.getLong(header, Memory.BYTES + ChunkDescriptor.CHECKSUM_OFFSET);
            // A network may deliver the header of the chunk after that of its slot. Until then the
            // header is that of an earlier chunk, and copying waits for the slot.
            boolean isEncoded = ChunkHeader.isEncoded(header);
            if (RingTicket.hasChecksum(ticket, checksum) && !(isEncoded && isBuild(ticket))) {
                // Encoded columns are located here, so all of the chunk must have arrived.
                boolean verifies = isEncoded || access == PayloadAccess.VERIFIED_IN_PLACE;
                return tryTake(ticket, verifies, checksum);
            }
        }
        return tryCopy(ticket);
    }

    /** Leaves the payload in its slot, which the caller releases with the chunk. */
    private @Nullable Chunk tryTake(Chunk ticket, boolean verifies, long checksum) {
        TakenSlot taken = session.take(verifies);
        if (taken == null) {
            return null;
        }
        heldSlots = session.heldCount();
        RingSlot slot = new RingSlot(taken);
        try {
            Chunk chunk = ChunkDecoder.inSlot(ticket.schema(), slot, taken.lengthBytes());
            if (!RingTicket.isOf(ticket, chunk, checksum)) {
                throw mismatch("Chunk of a ring does not match its ticket", ticket);
            }
            return chunk;
        } catch (RuntimeException e) {
            slot.release();
            throw e;
        }
    }

    private @Nullable Chunk tryCopy(Chunk ticket) {
        byte[] bytes = new byte[session.lengthBytes()];
        if (!session.copyTo(bytes)) {
            return null;
        }
        // The copy is the slot of this sequence, complete and private. A mismatch from here on is
        // an error of the writer.
        long checksum = Memory.getLong(bytes, Memory.BYTES + ChunkDescriptor.CHECKSUM_OFFSET);
        payloadBytesCopied += bytes.length;
        Chunk chunk =
                isBuild(ticket)
                        ? ChunkDecoder.decode(ticket.schema(), bytes)
                        : ChunkDecoder.open(ticket.schema(), bytes);
        if (!RingTicket.isOf(ticket, chunk, checksum)) {
            throw mismatch("Chunk of a ring does not match its ticket", ticket);
        }
        session.release();
        heldSlots = session.heldCount();
        return chunk;
    }

    /**
     * Whether a ticket is of build rows. All their columns are read, so they are decoded at once.
     */
    private static boolean isBuild(Chunk ticket) {
        return ticket.dimension() != ChunkDescriptor.FACTS;
    }

    /** A slot of the ring whose chunk is read in place. Its release is the writer's credit. */
    private final class RingSlot extends CountedSlot {

        private final TakenSlot taken;

        RingSlot(TakenSlot taken) {
            super(taken.region(), taken.address());
            this.taken = taken;
        }

        @Override
        public boolean isVerified() {
            return taken.isVerified();
        }

        @Override
        public void requireIntact() {
            taken.requireIntact();
        }

        @Override
        protected void released() {
            lock.lock();
            try {
                taken.release();
            } finally {
                heldSlots = session.heldCount();
                lock.unlock();
            }
        }
    }

    private IllegalStateException mismatch(String fault, Chunk ticket) {
        return new IllegalStateException(
                fault
                        + ": channel="
                        + session.channel()
                        + ", attempt="
                        + session.attempt()
                        + ", next="
                        + (session.readSequence() + 1)
                        + ", ticket="
                        + ticket.sequence()
                        + ", session="
                        + session.state()
                        + ", lastLoss="
                        + session.lastLoss());
    }

    @Override
    void stepSession(long nowNs) throws SessionException {
        session.step(nowNs);
    }

    @Override
    void closeSession() {
        session.close();
    }
}
