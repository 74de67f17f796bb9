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
 * Pauses the task that writes a partition while a receiver in the same process is full: takes all
 * free buffers of the partition's pool. Flink then calls the task between two elements no more, as
 * behind a slow receiver, and counts that as backpressure. Mails run, and barriers pass, because
 * they need no buffer of the pool.
 *
 * <p>What mails emit, such as part-full chunks in front of a barrier, takes overdraft buffers. A
 * buffer that came back to the pool for them would let Flink process another element, which the
 * next barrier would bring into the receiver's state, so that each barrier brought one.
 *
 * <p>A receiver that awaits the barrier of a checkpoint must not keep its sender from reading it.
 * So a hold has no effect between the announcement of a checkpoint and its barrier in the sender,
 * unless the sender is a source, which the checkpoint reaches by a mail.
 *
 * <p>Receivers ask in any thread; the sender's thread takes the buffers. On a partition of another
 * process nobody takes any.
 */
final class OutputHold implements BufferListener, AutoCloseable {

    /** An emission that takes longer waits for a buffer. */
    private static final long MAX_EMISSION_NS = TimeUnit.MILLISECONDS.toNanos(100);

    private static final Map<ResultPartitionID, OutputHold> OPEN = new ConcurrentHashMap<>();

    private final ResultPartitionID partition;

    /** Announced checkpoint of each receiver that is full. */
    private final Map<Object, Long> full = new HashMap<>();

    private final List<Buffer> taken = new ArrayList<>();
    private long passedCheckpoint = -1;
    private boolean listens;
    private volatile boolean isAsked;
    private volatile boolean holds;

    /**
     * Start of an emission of the paused sender, by {@link System#nanoTime}; 0 if there is none.
     */
    private volatile long emissionStartNs;

    /** Overdraft buffers that the pool has while the sender is not paused. */
    private int overdraftBuffers;

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

    /** Gives the buffers back where the sender needs more than it has; often called. */
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

    /** The sender reads no input, so it stays paused while a barrier is awaited. */
    synchronized void holdSource() {
        passedCheckpoint = Long.MAX_VALUE;
        update();
    }

    /** The sender is about to emit a barrier, after all rows that go before it. */
    synchronized void passed(long checkpoint) {
        passedCheckpoint = Math.max(passedCheckpoint, checkpoint);
        update();
    }

    /** The sender is about to emit, and may be paused. Each emission has an end. */
    void beginEmission(BufferPool pool) {
        if (holds) {
            overdraftBuffers = pool.getMaxOverdraftBuffersPerGate();
            pool.setMaxOverdraftBuffersPerGate(overdraftBuffers + pool.getNumBuffers());
            emissionStartNs = Math.max(1, System.nanoTime());
        }
    }

    /** Takes the pool's free buffers if a receiver asks for it. */
    void endEmission(BufferPool pool) {
        if (emissionStartNs != 0) {
            emissionStartNs = 0;
            pool.setMaxOverdraftBuffersPerGate(overdraftBuffers);
        }
        take(pool);
    }

    private void take(BufferPool pool) {
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

    private void drop() {
        if (!holds) {
            return;
        }
        List<Buffer> dropped;
        synchronized (this) {
            holds = false;
            dropped = List.copyOf(taken);
            taken.clear();
        }
        // This resumes the sender.
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
