// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.backpressure;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.flink.runtime.io.network.buffer.Buffer;
import org.apache.flink.runtime.io.network.buffer.BufferListener;
import org.apache.flink.runtime.io.network.buffer.BufferPool;
import org.apache.flink.runtime.io.network.partition.ResultPartitionID;

/**
 * Pauses the task that writes a partition while a receiver in the same process is full. The hold
 * requests all free buffers of the partition's pool. Flink then stops processing input, as with a
 * slow receiver, and counts the pause as backpressure. Mails and barriers are not delayed, because
 * they need no buffer of the pool.
 *
 * <p>Mails emit into overdraft buffers, such as partially filled chunks before a barrier. A buffer
 * that returned to the pool would let Flink process one more element. The receiver would write that
 * element to its state before the next barrier, and so on at each barrier.
 *
 * <p>A receiver that awaits the barrier of a checkpoint must not keep its sender from reading that
 * barrier. So a hold has no effect between the announcement of a checkpoint and its barrier in the
 * sender. A source is the exception, since a checkpoint reaches it by a mail.
 *
 * <p>Receivers call {@link #ask} in any thread; the sender's thread requests the buffers. A hold
 * has no effect on a partition of another process.
 */
final class OutputHold implements BufferListener, AutoCloseable {

    /** Longest emission that does not wait for a buffer. */
    private static final long MAX_EMISSION_NS = TimeUnit.MILLISECONDS.toNanos(100);

    private static final Map<ResultPartitionID, OutputHold> OPEN = new ConcurrentHashMap<>();

    private final ResultPartitionID partition;

    /** Announced checkpoint of each full receiver, or -1. */
    private final Map<Object, Long> full = new HashMap<>();

    private final List<Buffer> requested = new ArrayList<>();
    private long passedCheckpoint = -1;
    private boolean listens;
    private volatile boolean isAsked;
    private volatile boolean holds;

    /**
     * Start of the current emission of the paused sender in {@link System#nanoTime}; 0 if there is
     * none.
     */
    private volatile long emissionStartNs;

    /** Overdraft buffers of the pool while the sender is not paused. */
    private int overdraftBuffers;

    private OutputHold(ResultPartitionID partition) {
        this.partition = partition;
    }

    /** Returns the hold of a partition, which both ends share and close. */
    static OutputHold of(ResultPartitionID partition) {
        return OPEN.computeIfAbsent(partition, OutputHold::new);
    }

    static int openCount() {
        return OPEN.size();
    }

    /** Count of partitions whose senders are paused. */
    static long pausedCount() {
        return OPEN.values().stream().filter(hold -> hold.holds).count();
    }

    // ------------------------------------------------------------------ receivers

    /**
     * Pauses the sender until {@link #release}.
     *
     * @param announcedCheckpoint checkpoint whose barrier the receiver awaits; -1 if there is none
     */
    void ask(Object receiver, long announcedCheckpoint) {
        synchronized (this) {
            full.put(receiver, announcedCheckpoint);
            update();
        }
        if (!isAsked) {
            drop();
        }
    }

    /** Resumes the sender, since the receiver has room or has ended. */
    void release(Object receiver) {
        synchronized (this) {
            full.remove(receiver);
            update();
        }
        if (!isAsked) {
            drop();
        }
    }

    /**
     * Recycles the buffers if an emission of the sender waits for one. Cheap, so receivers call it
     * for every element.
     */
    void relieve() {
        long startNs = emissionStartNs;
        if (startNs != 0 && System.nanoTime() - startNs > MAX_EMISSION_NS) {
            drop();
        }
    }

    private void update() {
        isAsked = !full.isEmpty() && full.values().stream().allMatch(id -> id <= passedCheckpoint);
    }

    // ------------------------------------------------------------------ the sender

    /**
     * Pauses the sender also while a receiver awaits a barrier, since a source reads no barrier.
     */
    synchronized void holdSource() {
        passedCheckpoint = Long.MAX_VALUE;
        update();
    }

    /** The sender has emitted all rows before a barrier, and emits the barrier next. */
    synchronized void passed(long checkpoint) {
        passedCheckpoint = Math.max(passedCheckpoint, checkpoint);
        update();
    }

    /**
     * Provides overdraft buffers to an emission of a paused sender. {@link #endEmission} must
     * follow.
     */
    void beginEmission(BufferPool pool) {
        if (holds) {
            overdraftBuffers = pool.getMaxOverdraftBuffersPerGate();
            pool.setMaxOverdraftBuffersPerGate(overdraftBuffers + pool.getNumBuffers());
            emissionStartNs = Math.max(1, System.nanoTime());
        }
    }

    /** Ends an emission, and requests the pool's free buffers if a receiver is full. */
    void endEmission(BufferPool pool) {
        if (emissionStartNs != 0) {
            emissionStartNs = 0;
            pool.setMaxOverdraftBuffersPerGate(overdraftBuffers);
        }
        requestIfAsked(pool);
    }

    private void requestIfAsked(BufferPool pool) {
        if (!isAsked) {
            return;
        }
        synchronized (this) {
            holds = isAsked;
            while (holds && !pool.isDestroyed()) {
                requestFree(pool);
                if (listens || pool.addBufferListener(this)) {
                    listens = true;
                    return;
                }
            }
        }
    }

    /**
     * Requests all free buffers. A pool with free buffers provides none while one channel has
     * reached its limit.
     */
    private void requestFree(BufferPool pool) {
        while (pool.getNumberOfAvailableMemorySegments() > 0) {
            Buffer buffer = pool.requestBuffer();
            if (buffer == null) {
                return;
            }
            requested.add(buffer);
        }
    }

    private void drop() {
        if (!holds) {
            return;
        }
        List<Buffer> dropped;
        synchronized (this) {
            holds = false;
            dropped = List.copyOf(requested);
            requested.clear();
        }
        // This resumes the sender.
        dropped.forEach(Buffer::recycleBuffer);
    }

    /**
     * Keeps a buffer that the receiver has read, as it would otherwise resume the sender for one
     * element.
     */
    @Override
    public synchronized boolean notifyBufferAvailable(Buffer buffer) {
        listens = false;
        if (!holds) {
            return false;
        }
        requested.add(buffer);
        listens = ((BufferPool) buffer.getRecycler()).addBufferListener(this);
        return true;
    }

    @Override
    public void notifyBufferDestroyed() {}

    @Override
    public void close() {
        OPEN.remove(partition, this);
        drop();
    }
}
