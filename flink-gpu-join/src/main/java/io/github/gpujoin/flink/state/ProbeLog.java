// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import io.github.gpujoin.core.engine.InFlightProbe;
import io.github.gpujoin.core.layout.Chunk;
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
import org.jspecify.annotations.Nullable;

/**
 * Waiting probe chunks in keyed state: those that arrived while the build side was loaded or the
 * engine was full, and, in a snapshot, the engine's in-flight probes.
 *
 * <p>An entry is {@code int32 firstRow} and the chunk's bytes.
 */
public final class ProbeLog {

    private static final String WAITING = "probe-log";
    private static final String IN_FLIGHT = "probe-in-flight";
    private static final int PREFIX_BYTES = 4;

    /** Assumed length of an entry that has not been read. */
    private static final int UNKNOWN_BYTES = 128 << 10;

    private final PartitionKeys keys;
    private final IntConsumer setCurrentKey;
    private final ChunkSchema schema;
    private final KeyedChunkLog waiting;
    private final KeyedChunkLog inFlight;

    /** Keys with waiting entries, one element an entry, oldest first. */
    private final ArrayDeque<Integer> order = new ArrayDeque<>();

    /** Length of each entry of {@link #order}. */
    private final ArrayDeque<Integer> orderBytes = new ArrayDeque<>();

    private long queuedBytes;

    /** Keys of resumed entries, which precede all others; one element an entry. */
    private final ArrayDeque<Integer> due = new ArrayDeque<>();

    /** Number of waiting entries, deferred ones included; written by the task's thread. */
    private volatile int size;

    /** Number of deferred entries by key. */
    private final Map<Integer, Integer> deferred = new HashMap<>();

    /** The waiting probe that {@link #peek} read last, or null if it must read again. */
    private @Nullable InFlightProbe oldest;

    /** Keys under which the last snapshot wrote in-flight probes. */
    private final Set<Integer> inFlightKeys = new HashSet<>();

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
        byte[] chunk = migration.migrate(Arrays.copyOfRange(entry, PREFIX_BYTES, entry.length));
        byte[] migrated = Arrays.copyOf(entry, PREFIX_BYTES + chunk.length);
        System.arraycopy(chunk, 0, migrated, PREFIX_BYTES, chunk.length);
        return migrated;
    }

    /**
     * Queues the chunks of a snapshot, in-flight probes first. To be called once, after a restore.
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

    /** Whether no chunk waits, except deferred ones. */
    public boolean isEmpty() {
        return order.isEmpty() && due.isEmpty();
    }

    /** Bytes of waiting chunks that are not deferred; approximate for restored and resumed ones. */
    public long queuedBytes() {
        return queuedBytes + (long) UNKNOWN_BYTES * due.size();
    }

    /** Number of waiting chunks, deferred ones included. Any thread may call it. */
    public int size() {
        return size;
    }

    private ArrayDeque<Integer> next() {
        return due.isEmpty() ? order : due;
    }

    /** The next chunk: a resumed one, else the one that has waited longest. */
    public InFlightProbe peek() throws Exception {
        if (oldest == null) {
            setCurrentKey.accept(next().element());
            oldest = decode(waiting.get(0));
        }
        return oldest;
    }

    /** Removes the next chunk. */
    public void remove() throws Exception {
        setCurrentKey.accept(due.isEmpty() ? dequeue() : due.remove());
        waiting.remove();
        size--;
        oldest = null;
    }

    // One log holds the chunks of a key in the order of arrival. A chunk is deferred with all
    // chunks of its key before it, and later chunks of the key follow it.

    /** Whether {@link #peek} is a resumed chunk. */
    public boolean isDue() {
        return !due.isEmpty();
    }

    /** Appends a chunk that waits for {@link #resume}. */
    public void appendDeferred(InFlightProbe probe) throws Exception {
        int key = keys.nextKeyFor(probe.chunk());
        setCurrentKey.accept(key);
        waiting.append(encode(probe));
        deferred.merge(key, 1, Integer::sum);
        size++;
    }

    /** Defers the next chunk, which must not be due. */
    public void deferNext() {
        deferred.merge(dequeue(), 1, Integer::sum);
        oldest = null;
    }

    /** Resumes all deferred chunks of the partition. */
    public void resume(int partition) {
        int key = keys.keyOf(partition);
        Integer count = deferred.remove(key);
        for (int i = count == null ? 0 : count; i > 0; i--) {
            due.add(key);
        }
        oldest = null;
    }

    /** Writes the in-flight probes of the next snapshot. */
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

    private InFlightProbe decode(byte[] entry) {
        if (entry.length < PREFIX_BYTES) {
            throw SnapshotDamage.in(WAITING, "an entry is cut: bytes=" + entry.length);
        }
        byte[] chunk = new byte[entry.length - PREFIX_BYTES];
        System.arraycopy(entry, PREFIX_BYTES, chunk, 0, chunk.length);
        return new InFlightProbe(Chunk.wrap(schema, chunk), Memory.getInt(entry, Memory.BYTES));
    }
}
