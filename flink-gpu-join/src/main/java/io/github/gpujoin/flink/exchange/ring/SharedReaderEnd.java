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
import java.util.concurrent.atomic.AtomicInteger;
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
 * slot, since both hold the lock. The claimed chunk is read without it.
 */
final class SharedReaderEnd extends RingEnd {

    private final ReaderSession session;
    private final int maxHeldSlots;
    private final ArrivalWait wait;

    /** Taken slots with chunks that are not released, by sequence. */
    private final Map<Long, ArrivedSlot> arrived = new HashMap<>();

    /** Attempt of the writer whose slots have arrived. */
    private int attempt = -1;

    /**
     * The fault of a taken slot whose chunks cannot be located, for the subtasks that have tickets
     * of it; null if there is none.
     */
    private @Nullable String damage;

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

    /** The chunks of one subtask. */
    private final class Input implements RingInput {

        /** Written by the thread of the subtask. */
        private volatile long payloadBytesCopied;

        private final AtomicInteger heldChunks = new AtomicInteger();

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
            ArrivedSlot slot;
            byte[] header;
            lock.lock();
            try {
                slot = slotOf(ticket);
                if (slot == null) {
                    return null;
                }
                header = slot.tryClaim(RingTicket.numberOf(ticket));
                if (header == null) {
                    throw mismatch("Slot has no unclaimed chunk of that number", ticket);
                }
            } finally {
                lock.unlock();
            }
            // Nobody else reads or releases a claimed chunk, so the other subtasks need not wait.
            return mayStay(slot, header, ticket, access)
                    ? inPlace(slot, header, ticket, access)
                    : copied(slot, ticket);
        }

        private boolean mayStay(
                ArrivedSlot slot, byte[] header, Chunk ticket, PayloadAccess access) {
            return access != PayloadAccess.COPY
                    && !ticket.schema().hasVariableWidth()
                    && !(ChunkHeader.isEncoded(header) && RingTicket.isBuild(ticket))
                    && slot.isLargePart(RingTicket.numberOf(ticket))
                    && heldSlots <= maxHeldSlots;
        }

        private Chunk inPlace(ArrivedSlot slot, byte[] header, Chunk ticket, PayloadAccess access) {
            int number = RingTicket.numberOf(ticket);
            long checksum = Memory.getLong(header, Memory.BYTES + ChunkDescriptor.CHECKSUM_OFFSET);
            // Encoded columns are located here, so the chunk must be verified.
            boolean verifies =
                    ChunkHeader.isEncoded(header) || access == PayloadAccess.VERIFIED_IN_PLACE;
            ChunkInSlot place =
                    new ChunkInSlot(slot, number, verifies || slot.isVerified(), checksum);
            try {
                if (verifies && !slot.isVerified()) {
                    ChunkChecksum.require(null, place.address(), slot.lengthOf(number));
                }
                Chunk chunk = ChunkDecoder.inSlot(ticket.schema(), place, slot.lengthOf(number));
                if (!RingTicket.isOf(ticket, chunk, checksum)) {
                    throw mismatch("Chunk of a ring does not match its ticket", ticket);
                }
                return chunk;
            } catch (RuntimeException | Error e) {
                place.release();
                throw e;
            }
        }

        private Chunk copied(ArrivedSlot slot, Chunk ticket) {
            try {
                int number = RingTicket.numberOf(ticket);
                byte[] bytes = new byte[slot.lengthOf(number)];
                Memory.copy(null, slot.addressOf(number), bytes, Memory.BYTES, bytes.length);
                payloadBytesCopied += bytes.length;
                Chunk chunk = RingTicket.tryRead(ticket, bytes);
                if (chunk == null) {
                    throw mismatch("Chunk of a ring does not match its ticket", ticket);
                }
                return chunk;
            } finally {
                SharedReaderEnd.this.release(slot);
            }
        }

        @Override
        public long payloadBytesCopied() {
            return payloadBytesCopied;
        }

        /** The chunks that this subtask reads in place; each may keep a slot from the writer. */
        @Override
        public int heldSlots() {
            return heldChunks.get();
        }

        @Override
        public boolean hasRoom() {
            return heldSlots < maxHeldSlots || heldChunks.get() == 0;
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
                heldChunks.incrementAndGet();
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
                                    + session.attempt()
                                    + ". The job restarts.");
                }
            }

            @Override
            protected void released() {
                try {
                    requireIntact();
                } finally {
                    heldChunks.decrementAndGet();
                    SharedReaderEnd.this.release(slot);
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
        if (damage != null) {
            throw new IllegalStateException(damage);
        }
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
     * @throws IllegalStateException if the slot is damaged
     */
    private boolean tryTake() {
        TakenSlot taken = session.take(false);
        if (taken == null) {
            return false;
        }
        long sequence = session.readSequence();
        try {
            arrived.put(sequence, ArrivedSlot.of(taken, slot -> arrived.remove(sequence, slot)));
        } catch (IllegalStateException e) {
            taken.releaseChecked();
            damage = damageOf(sequence, e);
            throw new IllegalStateException(damage, e);
        } catch (Error e) {
            taken.releaseChecked();
            damage = damageOf(sequence, e);
            throw e;
        }
        heldSlots = session.heldCount();
        return true;
    }

    private String damageOf(long sequence, Throwable cause) {
        return "Slot of a shared ring is damaged: channel="
                + session.channel()
                + ", attempt="
                + session.attempt()
                + ", slot="
                + sequence
                + ", cause="
                + cause.getMessage()
                + ".\nThe job restarts. If that repeats, another process writes to the ring, or the"
                + " sender runs another version of this library.";
    }

    /** Releases a claimed chunk of a slot. */
    private void release(ArrivedSlot slot) {
        lock.lock();
        try {
            slot.release();
        } finally {
            heldSlots = session.heldCount();
            lock.unlock();
        }
    }

    private IllegalStateException mismatch(String fault, Chunk ticket) {
        lock.lock();
        try {
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
        } finally {
            lock.unlock();
        }
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
            damage = null;
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
