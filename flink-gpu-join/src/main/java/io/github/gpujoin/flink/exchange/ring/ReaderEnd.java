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
import java.util.function.BooleanSupplier;
import org.apache.flink.runtime.metrics.TimerGauge;
import org.jspecify.annotations.Nullable;

/** The receiving end of a ring to one subtask. */
final class ReaderEnd extends RingEnd implements RingInput {

    private final ReaderSession session;
    private final int maxHeldSlots;
    private final ArrivalWait wait;
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
        this.wait = new ArrivalWait(maxWaitNs);
    }

    @Override
    public long payloadBytesCopied() {
        return payloadBytesCopied;
    }

    /**
     * Returns the number of slots for which the writer has no credit: chunks that are read in
     * place, and those copied behind one of them, since credit is returned in order.
     */
    @Override
    public int heldSlots() {
        return heldSlots;
    }

    @Override
    public boolean hasRoom() {
        return heldSlots < maxHeldSlots || heldSlots == 0;
    }

    @Override
    public Chunk receive(
            Chunk ticket, PayloadAccess access, BooleanSupplier cancelled, TimerGauge idle)
            throws SessionException {
        try {
            return wait.until(
                    () -> poll(ticket, access),
                    cancelled,
                    idle,
                    () -> mismatch("Chunk of a ticket did not arrive in time", ticket));
        } catch (InternalError e) {
            throw sessionFailure(e);
        }
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
            if (RingTicket.hasChecksum(ticket, checksum)
                    && !(isEncoded && RingTicket.isBuild(ticket))) {
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
        } catch (RuntimeException | Error e) {
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
        payloadBytesCopied += bytes.length;
        Chunk chunk = RingTicket.tryRead(ticket, bytes);
        if (chunk == null) {
            throw mismatch("Chunk of a ring does not match its ticket", ticket);
        }
        session.release();
        heldSlots = session.heldCount();
        return chunk;
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
