package io.github.gpujoin.flink.backpressure;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.flink.runtime.io.network.buffer.Buffer;
import org.apache.flink.runtime.io.network.buffer.BufferListener;
import org.apache.flink.runtime.io.network.buffer.BufferPool;
import org.apache.flink.runtime.io.network.partition.ResultPartitionID;

/**
 * Pauses the task that writes a partition while a receiver in the same process is full: takes all
 * free buffers of the partition's pool. Flink then calls the task between two elements no more, as
 * behind a slow receiver, and counts that as backpressure. Mails run, and barriers pass, because
 * they need no buffer of the pool.
 *
 * <p>A receiver that awaits the barrier of a checkpoint must not keep its sender from reading it.
 * So a hold has no effect between the announcement of a checkpoint and its barrier in the sender,
 * unless the sender is a source, which the checkpoint reaches by a mail.
 *
 * <p>Receivers ask in any thread; the sender's thread takes the buffers. On a partition of another
 * process nobody takes any.
 */
final class OutputHold implements BufferListener, AutoCloseable {

    private static final Map<ResultPartitionID, OutputHold> OPEN = new ConcurrentHashMap<>();

    private final ResultPartitionID partition;

    /** Announced checkpoint of each receiver that is full. */
    private final Map<Object, Long> full = new HashMap<>();

    private final List<Buffer> taken = new ArrayList<>();
    private long passedCheckpoint = -1;
    private boolean listens;
    private volatile boolean isAsked;
    private volatile boolean holds;

    private OutputHold(ResultPartitionID partition) {
        this.partition = partition;
    }

    /** Returns the one of both ends; each of them closes it. */
    static OutputHold of(ResultPartitionID partition) {
        return OPEN.computeIfAbsent(partition, OutputHold::new);
    }

    static int openCount() {
        return OPEN.size();
    }

    /** Partitions whose senders are paused. */
    static long pausedCount() {
        return OPEN.values().stream().filter(hold -> hold.holds).count();
    }

    // ------------------------------------------------------------------ receivers

    /**
     * Pauses the sender until {@link #release}.
     *
     * @param announcedCheckpoint whose barrier the receiver awaits; -1 if there is none
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

    /** The receiver has room, or ends. */
    void release(Object receiver) {
        synchronized (this) {
            full.remove(receiver);
            update();
        }
        if (!isAsked) {
            drop();
        }
    }

    private void update() {
        isAsked = !full.isEmpty() && full.values().stream().allMatch(id -> id <= passedCheckpoint);
    }

    // ------------------------------------------------------------------ the sender

    /** The sender reads no input, so it stays paused while a barrier is awaited. */
    synchronized void holdSource() {
        passedCheckpoint = Long.MAX_VALUE;
        update();
    }

    /** The sender is about to emit a barrier, after all rows that go before it. */
    void passed(long checkpoint, BufferPool pool) {
        synchronized (this) {
            passedCheckpoint = Math.max(passedCheckpoint, checkpoint);
            update();
        }
        take(pool);
    }

    /** Takes the pool's free buffers if a receiver asks for it. */
    void take(BufferPool pool) {
        if (!isAsked) {
            return;
        }
        synchronized (this) {
            holds = isAsked;
            while (holds && !pool.isDestroyed()) {
                takeFree(pool);
                if (listens || pool.addBufferListener(this)) {
                    listens = true;
                    return;
                }
            }
        }
    }

    /** A pool with free buffers is unavailable while one channel has all that it may. */
    private void takeFree(BufferPool pool) {
        while (pool.getNumberOfAvailableMemorySegments() > 0) {
            Buffer buffer = pool.requestBuffer();
            if (buffer == null) {
                return;
            }
            taken.add(buffer);
        }
    }

    /** Gives the buffers back. */
    void drop() {
        if (!holds) {
            return;
        }
        List<Buffer> dropped;
        synchronized (this) {
            holds = false;
            dropped = List.copyOf(taken);
            taken.clear();
        }
        // resumes the sender
        dropped.forEach(Buffer::recycleBuffer);
    }

    /** The receiver has read a buffer: without this, it would let the sender emit an element. */
    @Override
    public synchronized boolean notifyBufferAvailable(Buffer buffer) {
        listens = false;
        if (!holds) {
            return false;
        }
        taken.add(buffer);
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
