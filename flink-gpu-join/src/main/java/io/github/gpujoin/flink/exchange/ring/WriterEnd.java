package io.github.gpujoin.flink.exchange.ring;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.rdma.session.SessionException;
import io.github.gpujoin.rdma.session.WriterSession;
import java.util.concurrent.locks.LockSupport;
import org.apache.flink.runtime.metrics.TimerGauge;

/** The sending end of a ring. The mailbox never waits for an agent that connects. */
final class WriterEnd extends RingEnd {

    /** What {@link #send} gives for a chunk that it did not take. */
    static final long NOT_SENT = 0;

    private static final long LOOK_AGAIN_NS = 20_000;

    private final WriterSession session;
    private final int payloadBytes;
    private volatile boolean open;
    private volatile int occupiedSlots;

    /**
     * @param session this end's own from now on
     * @param payloadBytes longest chunk that fits
     */
    WriterEnd(WriterSession session, int payloadBytes) {
        this.session = session;
        this.payloadBytes = payloadBytes;
    }

    /**
     * Sends a chunk where the ring is connected and has room within a time; for the mailbox.
     *
     * @param backPressured counts waits
     * @return the slot's sequence, or {@link #NOT_SENT}
     * @throws SessionException where the receiver is gone for good
     */
    long send(Chunk chunk, long maxWaitNs, TimerGauge backPressured) throws SessionException {
        try {
            return sendWithin(chunk, maxWaitNs, backPressured);
        } catch (InternalError e) {
            throw brokenDown(e);
        }
    }

    private long sendWithin(Chunk chunk, long maxWaitNs, TimerGauge backPressured)
            throws SessionException {
        long startNs = System.nanoTime();
        boolean goesOn = chunk.lengthBytes() <= payloadBytes;
        while (goesOn && open) {
            long sequence = trySend(chunk);
            if (sequence != NOT_SENT) {
                return sequence;
            }
            backPressured.markStart();
            LockSupport.parkNanos(LOOK_AGAIN_NS);
            backPressured.markEnd();
            goesOn =
                    System.nanoTime() - startNs < maxWaitNs
                            && !Thread.currentThread().isInterrupted();
        }
        checkNotFailed();
        return NOT_SENT;
    }

    private long trySend(Chunk chunk) throws SessionException {
        if (!lock.tryLock()) {
            return NOT_SENT;
        }
        try {
            if (!session.isConnected()) {
                return NOT_SENT;
            }
            boolean written = session.tryWrite(chunk.bytes(), Memory.BYTES, chunk.lengthBytes());
            long sequence = written ? session.writtenSequence() : NOT_SENT;
            step(System.nanoTime());
            checkNotFailed();
            return sequence;
        } finally {
            lock.unlock();
        }
    }

    /** Whether chunks go through the ring now. */
    boolean isOpen() {
        return open;
    }

    /**
     * Slots that were written and not yet given back, as the last step found it; for any thread.
     */
    int occupiedSlots() {
        return occupiedSlots;
    }

    /** Why the ring is not, or was not, connected. */
    String lastLoss() {
        lock.lock();
        try {
            return session.lastLoss();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Whether the receiver has taken all that was sent.
     *
     * @throws SessionException where it is gone for good
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
        open = session.isConnected();
        occupiedSlots = (int) (session.writtenSequence() - session.acknowledgedSequence());
    }

    @Override
    void closeSession() {
        open = false;
        session.close();
    }
}
