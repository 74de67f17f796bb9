// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import io.github.gpujoin.core.encoding.ChunkDecoder;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkChecksum;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkHeader;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.slot.CountedSlot;
import io.github.gpujoin.rdma.session.ReaderSession;
import io.github.gpujoin.rdma.session.SessionException;
import io.github.gpujoin.rdma.session.TakenSlot;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.apache.flink.runtime.metrics.TimerGauge;
import org.jspecify.annotations.Nullable;

/**
 * The receiving end of a ring that subtasks of the join share.
 *
 * <p>A subtask that has a ticket takes all slots up to that of its chunk. Chunks of other subtasks
 * stay in these slots until their tickets arrive. So no subtask waits for another one: a chunk
 * whose ticket was emitted is in a slot that the writer had credit for, and the reader can take all
 * of those. A slow subtask uses up the credit; the writer then sends through Flink's channels.
 *
 * <p>The lock guards the session and the slots. A claim reads what the thread wrote that took the
 * slot, since both hold the lock.
 */
final class SharedReaderEnd extends RingEnd {

    private final ReaderSession session;
    private final int maxHeldSlots;
    private final ArrivalWait wait;

    /** Taken slots with chunks that are not released, by sequence. */
    private final Map<Long, ArrivedSlot> arrived = new HashMap<>();

    /** Attempt of the writer whose slots have arrived. */
    private int attempt = -1;

    private volatile int heldSlots;

    /**
     * @param session which this end closes; its ring is in host memory
     * @param maxHeldSlots slots that may be read in place at once; the writer needs the others
     * @param maxWaitNs longest wait for the chunk of a ticket
     */
    SharedReaderEnd(ReaderSession session, int maxHeldSlots, long maxWaitNs) {
        this.session = session;
        this.maxHeldSlots = maxHeldSlots;
        this.wait = new ArrivalWait(maxWaitNs);
    }

    /** Returns the input of one more subtask. */
    RingInput input() {
        return new Input();
    }

    /** The chunks of one subtask. The lock guards its counts; any thread may read them. */
    private final class Input implements RingInput {

        private volatile long payloadBytesCopied;
        private volatile int heldChunks;

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
                ArrivedSlot slot = slotOf(ticket);
                return slot == null ? null : claim(slot, ticket, access);
            } finally {
                lock.unlock();
            }
        }

        private Chunk claim(ArrivedSlot slot, Chunk ticket, PayloadAccess access) {
            int number = RingTicket.numberOf(ticket);
            if (!slot.tryClaim(number)) {
                throw mismatch("Slot has no unclaimed chunk of that number", ticket);
            }
            byte[] header = new byte[ChunkDescriptor.HEADER_BYTES];
            Memory.copy(null, slot.addressOf(number), header, Memory.BYTES, header.length);
            long checksum = Memory.getLong(header, Memory.BYTES + ChunkDescriptor.CHECKSUM_OFFSET);
            boolean isEncoded = ChunkHeader.isEncoded(header);
            boolean mayStay =
                    access != PayloadAccess.COPY
                            && !ticket.schema().hasVariableWidth()
                            && !(isEncoded && RingTicket.isBuild(ticket))
                            && slot.isLargePart(number)
                            && session.heldCount() <= maxHeldSlots;
            // Encoded columns are located here, so the chunk must be verified.
            boolean verifies = isEncoded || access == PayloadAccess.VERIFIED_IN_PLACE;
            return mayStay ? inPlace(slot, ticket, verifies, checksum) : copied(slot, ticket);
        }

        private Chunk inPlace(ArrivedSlot slot, Chunk ticket, boolean verifies, long checksum) {
            int number = RingTicket.numberOf(ticket);
            ChunkInSlot place =
                    new ChunkInSlot(slot, number, verifies || slot.isVerified(), checksum);
            try {
                if (verifies && !slot.isVerified()) {
                    ChunkChecksum.require(null, place.address(), slot.lengthOf(number));
                }
                Chunk chunk = ChunkDecoder.inSlot(ticket.schema(), place, slot.lengthOf(number));
                requireOf(ticket, chunk, checksum);
                return chunk;
            } catch (RuntimeException e) {
                place.release();
                throw e;
            }
        }

        private Chunk copied(ArrivedSlot slot, Chunk ticket) {
            try {
                int number = RingTicket.numberOf(ticket);
                byte[] bytes = new byte[slot.lengthOf(number)];
                Memory.copy(null, slot.addressOf(number), bytes, Memory.BYTES, bytes.length);
                long checksum =
                        Memory.getLong(bytes, Memory.BYTES + ChunkDescriptor.CHECKSUM_OFFSET);
                payloadBytesCopied += bytes.length;
                Chunk chunk =
                        RingTicket.isBuild(ticket)
                                ? ChunkDecoder.decode(ticket.schema(), bytes)
                                : ChunkDecoder.open(ticket.schema(), bytes);
                requireOf(ticket, chunk, checksum);
                return chunk;
            } finally {
                release(slot);
            }
        }

        private void requireOf(Chunk ticket, Chunk chunk, long checksum) {
            if (!RingTicket.isOf(ticket, chunk, checksum)) {
                throw mismatch("Chunk of a ring does not match its ticket", ticket);
            }
        }

        @Override
        public long payloadBytesCopied() {
            return payloadBytesCopied;
        }

        /** The chunks that this subtask reads in place; each may keep a slot from the writer. */
        @Override
        public int heldSlots() {
            return heldChunks;
        }

        @Override
        public boolean hasRoom() {
            return heldSlots < maxHeldSlots || heldChunks == 0;
        }

        /** A chunk that is read in its slot. */
        private final class ChunkInSlot extends CountedSlot {

            private final ArrivedSlot slot;
            private final int number;
            private final boolean isVerified;
            private final long checksum;

            ChunkInSlot(ArrivedSlot slot, int number, boolean isVerified, long checksum) {
                super(slot.region(), slot.addressOf(number));
                this.slot = slot;
                this.number = number;
                this.isVerified = isVerified;
                this.checksum = checksum;
                heldChunks++;
            }

            @Override
            public boolean isVerified() {
                return isVerified;
            }

            /** Reads this chunk only: others of the slot have readers of their own. */
            @Override
            public void requireIntact() {
                long address = slot.addressOf(number);
                if (slot.mayChange()
                        && ChunkChecksum.of(null, address, slot.lengthOf(number)) != checksum) {
                    throw new IllegalStateException(
                            "Slot was overwritten while it was read: channel="
                                    + session.channel()
                                    + ", attempt="
                                    + attempt
                                    + ". The job restarts.");
                }
            }

            @Override
            protected void released() {
                lock.lock();
                try {
                    requireIntact();
                } finally {
                    heldChunks--;
                    SharedReaderEnd.this.release(slot);
                    lock.unlock();
                }
            }
        }
    }

    /**
     * Returns the slot of a ticket; null if it has not arrived. A slot that has arrived is readable
     * also after its session has failed.
     */
    private @Nullable ArrivedSlot slotOf(Chunk ticket) throws SessionException {
        long sequence = RingTicket.slotOf(ticket);
        ArrivedSlot slot = arrived.get(sequence);
        if (slot != null) {
            return slot;
        }
        step(System.nanoTime());
        checkNotFailed();
        if (sequence <= session.readSequence()) {
            throw mismatch("Slot of a ticket was released", ticket);
        }
        while (session.readSequence() < sequence) {
            if (!session.poll() || !tryTake()) {
                return null;
            }
        }
        return arrived.get(sequence);
    }

    /**
     * Takes the next slot.
     *
     * @return false if it has not fully arrived; the caller polls again, and the session requests a
     *     retransmission if that does not help
     */
    private boolean tryTake() {
        TakenSlot taken = session.take(false);
        if (taken == null) {
            return false;
        }
        long sequence = session.readSequence();
        try {
            arrived.put(sequence, ArrivedSlot.of(taken, slot -> arrived.remove(sequence, slot)));
        } catch (RuntimeException e) {
            taken.releaseChecked();
            throw e;
        }
        heldSlots = session.heldCount();
        return true;
    }

    /** Releases a claimed chunk of a slot. The caller holds the lock. */
    private void release(ArrivedSlot slot) {
        slot.release();
        heldSlots = session.heldCount();
    }

    private IllegalStateException mismatch(String fault, Chunk ticket) {
        return new IllegalStateException(
                fault
                        + ": channel="
                        + session.channel()
                        + ", attempt="
                        + session.attempt()
                        + ", slot="
                        + RingTicket.slotOf(ticket)
                        + ", chunk="
                        + RingTicket.numberOf(ticket)
                        + ", takenSlots="
                        + session.readSequence()
                        + ", session="
                        + session.state()
                        + ", lastLoss="
                        + session.lastLoss());
    }

    @Override
    void stepSession(long nowNs) throws SessionException {
        session.step(nowNs);
    }

    /**
     * Nobody gets tickets of an earlier attempt any more, and their slots are in another window.
     */
    @Override
    void stepped() {
        if (session.attempt() != attempt) {
            attempt = session.attempt();
            abandonAll();
        }
        heldSlots = session.heldCount();
    }

    private void abandonAll() {
        List<ArrivedSlot> slots = List.copyOf(arrived.values());
        arrived.clear();
        slots.forEach(ArrivedSlot::abandon);
    }

    @Override
    void closeSession() {
        abandonAll();
        session.close();
    }
}
