// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import io.github.gpujoin.core.layout.ChunkChecksum;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.rdma.session.SessionException;
import io.github.gpujoin.rdma.session.WriterSession;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.apache.flink.runtime.metrics.TimerGauge;

/** The sending end of one ring. The mailbox thread never waits for the agent to connect. */
final class WriterEnd extends RingEnd {

    /** Result of {@link #send} for a chunk that did not go through the ring. */
    static final long NOT_SENT = 0;

    private static final long POLL_INTERVAL_NS = 20_000;

    private final WriterSession session;
    private final int payloadBytes;
    private volatile boolean isOpen;
    private volatile int occupiedSlots;
    private volatile long releasedSlots;

    /**
     * @param session which this end closes
     * @param payloadBytes of a slot
     */
    WriterEnd(WriterSession session, int payloadBytes) {
        this.session = session;
        this.payloadBytes = payloadBytes;
    }

    /**
     * Sends a slot, if the ring is connected and has room within a time. For the mailbox thread.
     *
     * @param chunks bytes of sealed chunks, in the order of {@link
     *     io.github.gpujoin.core.ring.SlotParts}
     * @param backPressured counts waits as backpressure
     * @return the slot's sequence, or {@link #NOT_SENT}
     * @throws SessionException if the session has failed
     */
    long send(List<byte[]> chunks, long maxWaitNs, TimerGauge backPressured)
            throws SessionException {
        try {
            return sendWithin(chunks, maxWaitNs, backPressured);
        } catch (InternalError e) {
            throw sessionFailure(e);
        }
    }

    private long sendWithin(List<byte[]> chunks, long maxWaitNs, TimerGauge backPressured)
            throws SessionException {
        long startNs = System.nanoTime();
        boolean mayRetry = true;
        while (mayRetry && isOpen) {
            long sequence = trySend(chunks);
            if (sequence != NOT_SENT) {
                return sequence;
            }
            backPressured.markStart();
            LockSupport.parkNanos(POLL_INTERVAL_NS);
            backPressured.markEnd();
            mayRetry =
                    System.nanoTime() - startNs < maxWaitNs
                            && !Thread.currentThread().isInterrupted();
        }
        checkNotFailed();
        return NOT_SENT;
    }

    private long trySend(List<byte[]> chunks) throws SessionException {
        if (!lock.tryLock()) {
            return NOT_SENT;
        }
        try {
            if (!session.isConnected()) {
                return NOT_SENT;
            }
            boolean written = tryWrite(chunks);
            long sequence = written ? session.writtenSequence() : NOT_SENT;
            step(System.nanoTime());
            checkNotFailed();
            return sequence;
        } finally {
            lock.unlock();
        }
    }

    private boolean tryWrite(List<byte[]> chunks) {
        if (chunks.size() > 1) {
            return session.tryWrite(chunks);
        }
        byte[] chunk = chunks.get(0);
        long sum = ChunkChecksum.wordSum(chunk, Memory.BYTES);
        return session.tryWrite(chunk, Memory.BYTES, chunk.length, sum);
    }

    /** Whether a slot holds so many bytes of chunks. */
    boolean fits(long lengthBytes) {
        return lengthBytes <= payloadBytes;
    }

    /** Count of slots that the receiver has released, at the last step. For any thread. */
    long releasedSlots() {
        return releasedSlots;
    }

    /** Whether the ring is connected. For any thread. */
    boolean isOpen() {
        return isOpen;
    }

    /** Count of slots that the receiver had not released at the last step. For any thread. */
    int occupiedSlots() {
        return occupiedSlots;
    }

    /** Returns why the ring is not connected, or why it was not the last time. */
    String lastLoss() {
        lock.lock();
        try {
            return session.lastLoss();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Whether the receiver has received all chunks of the ring.
     *
     * @throws SessionException if the session has failed
     */
    boolean isDrained() throws SessionException {
        checkNotFailed();
        lock.lock();
        try {
            return session.isDrained();
        } finally {
            lock.unlock();
        }
    }

    @Override
    void stepSession(long nowNs) throws SessionException {
        session.step(nowNs);
    }

    @Override
    void stepped() {
        isOpen = session.isConnected();
        releasedSlots = session.acknowledgedSequence();
        occupiedSlots = (int) (session.writtenSequence() - releasedSlots);
    }

    @Override
    void closeSession() {
        isOpen = false;
        session.close();
    }
}
