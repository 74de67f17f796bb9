// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import io.github.gpujoin.core.encoding.ChunkDecoder;
import io.github.gpujoin.core.engine.InFlightProbe;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.flink.record.SnapshotDamage;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntConsumer;
import org.apache.flink.api.common.state.KeyedStateStore;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.jspecify.annotations.Nullable;

/**
 * Queue of probe chunks in keyed state. Chunks wait here while the build side loads, while the
 * engine is full, or, as deferred chunks, until {@link #resume} for their partition. A snapshot
 * also contains the engine's in-flight probes.
 *
 * <p>An entry is {@code int32 firstRow} (see {@link InFlightProbe}) and the chunk's bytes. The
 * methods run in the task's mailbox thread, except for {@link #size}.
 */
public final class ProbeLog {

    private static final String WAITING = "probe-log";
    private static final String IN_FLIGHT = "probe-in-flight";
    private static final int PREFIX_BYTES = 4;

    /** Assumed length of an entry that was restored or resumed. */
    private static final int UNKNOWN_BYTES = 128 << 10;

    private final PartitionKeys keys;
    private final IntConsumer setCurrentKey;
    private final ChunkSchema schema;
    private final KeyedChunkLog waiting;
    private final KeyedChunkLog inFlight;

    /** Key of each waiting entry that is not deferred or resumed, oldest first. */
    private final ArrayDeque<Integer> order = new ArrayDeque<>();

    /** Length of each entry of {@link #order}. */
    private final ArrayDeque<Integer> orderBytes = new ArrayDeque<>();

    private long queuedBytes;

    /** Key of each resumed entry; resumed entries precede all others. */
    private final ArrayDeque<Integer> due = new ArrayDeque<>();

    /** Number of waiting entries, deferred ones included; written by the task's thread. */
    private volatile int size;

    /** Number of deferred entries by key. */
    private final Map<Integer, Integer> deferred = new HashMap<>();

    /** The next probe, as {@link #peek} read it; null if it must be read. */
    private @Nullable InFlightProbe oldest;

    /** Keys under which the last snapshot wrote in-flight probes. */
    private final Set<Integer> inFlightKeys = new HashSet<>();

    /**
     * Opens the log in the operator's state.
     *
     * @param setCurrentKey sets the key of the operator that owns {@code store}
     * @param schema schema of the facts
     */
    public ProbeLog(
            KeyedStateStore store,
            PartitionKeys keys,
            IntConsumer setCurrentKey,
            ChunkSchema schema) {
        this.keys = keys;
        this.setCurrentKey = setCurrentKey;
        this.schema = schema;
        this.waiting = new KeyedChunkLog(store, WAITING);
        this.inFlight = new KeyedChunkLog(store, IN_FLIGHT);
    }

    /**
     * Converts all chunks of a snapshot to chunks of this join. To be called before any other
     * method.
     */
    public void migrate(ChunkMigration migration) throws Exception {
        if (migration.isNone()) {
            return;
        }
        for (int partition : keys.ownPartitions()) {
            setCurrentKey.accept(keys.keyOf(partition));
            waiting.replaceAll(entry -> migrate(entry, migration));
            inFlight.replaceAll(entry -> migrate(entry, migration));
        }
    }

    private static byte[] migrate(byte[] entry, ChunkMigration migration) throws IOException {
        requirePrefix(entry);
        byte[] chunk = migration.migrate(Arrays.copyOfRange(entry, PREFIX_BYTES, entry.length));
        byte[] migrated = Arrays.copyOf(entry, PREFIX_BYTES + chunk.length);
        System.arraycopy(chunk, 0, migrated, PREFIX_BYTES, chunk.length);
        return migrated;
    }

    /**
     * Queues the chunks of a snapshot, those of each key group together, its in-flight probes
     * first. Deferred chunks are queued like the others. To be called once, after a restore.
     *
     * @param onChunk receives the key group of each chunk, which is its partition if it has one
     */
    public void restore(IntConsumer onChunk) throws Exception {
        for (int partition : keys.ownPartitions()) {
            int key = keys.keyOf(partition);
            setCurrentKey.accept(key);
            long inFlightChunks = inFlight.restoredSize();
            long waitingChunks = inFlightChunks + waiting.restoredSize();
            for (long last = inFlightChunks - 1; last >= 0; last--) {
                waiting.prepend(inFlight.get(last));
            }
            if (inFlightChunks > 0) {
                inFlight.clear();
            }
            for (long waits = waitingChunks; waits > 0; waits--) {
                queue(key, UNKNOWN_BYTES);
                onChunk.accept(partition);
            }
        }
    }

    /** Queues a chunk behind all others. */
    public void append(InFlightProbe probe) throws Exception {
        int key = keys.nextKeyFor(probe.chunk());
        setCurrentKey.accept(key);
        byte[] entry = encode(probe);
        waiting.append(entry);
        queue(key, entry.length);
    }

    private void queue(int key, int bytes) {
        order.add(key);
        orderBytes.add(bytes);
        queuedBytes += bytes;
        size++;
    }

    private int dequeue() {
        queuedBytes -= orderBytes.remove();
        return order.remove();
    }

    /** Returns whether no chunk waits, except deferred ones. */
    public boolean isEmpty() {
        return order.isEmpty() && due.isEmpty();
    }

    /**
     * Returns the bytes of all chunks except deferred ones; restored and resumed ones are
     * estimated.
     */
    public long queuedBytes() {
        return queuedBytes + (long) UNKNOWN_BYTES * due.size();
    }

    /** Returns the number of waiting chunks, including deferred ones. Any thread may call it. */
    public int size() {
        return size;
    }

    private ArrayDeque<Integer> next() {
        return due.isEmpty() ? order : due;
    }

    /**
     * Returns the next chunk: a resumed one if there is one, else the first in the queue.
     *
     * @throws java.util.NoSuchElementException if {@link #isEmpty}
     * @throws SuppressRestartsException if the chunk is damaged; a restart would meet that again
     */
    public InFlightProbe peek() throws Exception {
        if (oldest == null) {
            setCurrentKey.accept(next().element());
            oldest = decode(waiting.get(0));
        }
        return oldest;
    }

    /** Removes the next chunk; fails like {@link #peek} if there is none. */
    public void remove() throws Exception {
        setCurrentKey.accept(due.isEmpty() ? dequeue() : due.remove());
        waiting.remove();
        size--;
        oldest = null;
    }

    // One log holds the chunks of a key in the order of arrival. A chunk is deferred with all
    // chunks of its key before it, and later chunks of the key follow it.

    /** Returns whether the next chunk is a resumed one. */
    public boolean isDue() {
        return !due.isEmpty();
    }

    /** Appends a deferred chunk. */
    public void appendDeferred(InFlightProbe probe) throws Exception {
        int key = keys.nextKeyFor(probe.chunk());
        setCurrentKey.accept(key);
        waiting.append(encode(probe));
        deferred.merge(key, 1, Integer::sum);
        size++;
    }

    /** Defers the next chunk, which must not be {@linkplain #isDue resumed}. */
    public void deferNext() {
        deferred.merge(dequeue(), 1, Integer::sum);
        oldest = null;
    }

    /**
     * Moves the deferred chunks of a partition before all chunks that are not resumed.
     *
     * @throws IllegalArgumentException if this subtask does not own the partition
     */
    public void resume(int partition) {
        int key = keys.keyOf(partition);
        Integer count = deferred.remove(key);
        for (int i = count == null ? 0 : count; i > 0; i--) {
            due.add(key);
        }
        oldest = null;
    }

    /** Replaces the in-flight probes of the last snapshot with those of the next one. */
    public void snapshotInFlight(List<InFlightProbe> probes) throws Exception {
        for (int key : inFlightKeys) {
            setCurrentKey.accept(key);
            inFlight.clear();
        }
        inFlightKeys.clear();
        for (InFlightProbe probe : probes) {
            int key = keys.nextKeyFor(probe.chunk());
            setCurrentKey.accept(key);
            inFlight.append(encode(probe));
            inFlightKeys.add(key);
        }
    }

    private static byte[] encode(InFlightProbe probe) {
        byte[] chunk = probe.chunk().bytes();
        byte[] entry = new byte[PREFIX_BYTES + chunk.length];
        Memory.putInt(entry, Memory.BYTES, probe.firstRow());
        System.arraycopy(chunk, 0, entry, PREFIX_BYTES, chunk.length);
        return entry;
    }

    private static void requirePrefix(byte[] entry) {
        if (entry.length < PREFIX_BYTES) {
            throw new SuppressRestartsException(
                    SnapshotDamage.in(WAITING, "an entry is cut: bytes=" + entry.length));
        }
    }

    private InFlightProbe decode(byte[] entry) {
        requirePrefix(entry);
        byte[] chunk = new byte[entry.length - PREFIX_BYTES];
        System.arraycopy(entry, PREFIX_BYTES, chunk, 0, chunk.length);
        return new InFlightProbe(
                ChunkDecoder.open(schema, chunk), Memory.getInt(entry, Memory.BYTES));
    }
}
