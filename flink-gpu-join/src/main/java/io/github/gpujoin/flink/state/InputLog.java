// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import io.github.gpujoin.core.encoding.ChunkDecoder;
import io.github.gpujoin.core.encoding.ChunkEncoder;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.symmetric.SymmetricJoin.AddedRows;
import io.github.gpujoin.flink.record.SnapshotDamage;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntConsumer;
import org.apache.flink.api.common.state.KeyedStateStore;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.flink.util.function.ThrowingConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The rows of one input of a symmetric join in keyed state: chunks under their radix partition, in
 * the order of arrival.
 *
 * <pre>
 *  entry: int64 time of the addition in ms | chunk, encoded if that is shorter
 * </pre>
 *
 * <p>Short chunks are merged: the last rows of a partition are written to state when they are long
 * enough, and before a snapshot. The time of an entry is that of its last row.
 *
 * <p>Append-only, except that {@link #rewrite} replaces the log of a partition. Not thread-safe.
 */
public final class InputLog {

    private static final int TIME_BYTES = Long.BYTES;

    /** Shorter chunks are merged up to this size. */
    private static final int MERGED_BYTES = 32 << 10;

    /** The last rows of a partition, which are not in state yet. */
    private static final class Tail {
        private final ChunkBuilder rows;
        private long timeMs;

        private Tail(ChunkSchema schema) {
            rows = new ChunkBuilder(schema, MERGED_BYTES);
        }
    }

    private final ChunkEncoder encoder = new ChunkEncoder();
    private final ChunkSchema schema;
    private final PartitionKeys keys;
    private final LogBytes bytes;
    private final IntConsumer setCurrentKey;
    private final KeyedChunkLog chunks;
    private final BuildLogSizes sizes;

    /** Null if chunks are not merged. */
    private final @Nullable Map<Integer, Tail> tails;

    private long rowCount;
    private long chunkCount;

    /**
     * @param name of the state
     * @param schema of the chunks
     * @param mergesChunks whether short chunks are merged, so that their rows expire later
     * @param bytes counts the chunks that are appended
     * @param setCurrentKey of the operator that owns the keyed state
     */
    public InputLog(
            KeyedStateStore store,
            String name,
            ChunkSchema schema,
            boolean mergesChunks,
            PartitionKeys keys,
            LogBytes bytes,
            IntConsumer setCurrentKey) {
        this.schema = schema;
        this.tails = mergesChunks ? new TreeMap<>() : null;
        this.keys = keys;
        this.bytes = bytes;
        this.setCurrentKey = setCurrentKey;
        this.chunks = new KeyedChunkLog(store, name);
        this.sizes = new BuildLogSizes(store, name + "-size", keys, setCurrentKey);
    }

    /** Appends the rows of a chunk of one of the subtask's own partitions. */
    public void append(Chunk chunk, long timeMs) throws Exception {
        rowCount += chunk.rowCount();
        int partition = chunk.partition();
        if (tails == null) {
            write(chunk, timeMs);
        } else if (chunk.lengthBytes() >= MERGED_BYTES) {
            writeTail(partition);
            write(chunk, timeMs);
        } else {
            Tail tail = tails.computeIfAbsent(partition, key -> new Tail(schema));
            for (int row = 0; row < chunk.rowCount(); ) {
                row += tail.rows.addRows(chunk, row, chunk.rowCount() - row);
                tail.timeMs = timeMs;
                if (tail.rows.isFull()) {
                    writeTail(partition);
                }
            }
        }
    }

    private void writeTail(int partition) throws Exception {
        Tail tail = tails == null ? null : tails.get(partition);
        if (tail != null && !tail.rows.isEmpty()) {
            write(tail.rows.seal(ChunkDescriptor.FACTS, partition, 0, 0), tail.timeMs);
        }
    }

    private void write(Chunk chunk, long timeMs) throws Exception {
        setCurrentKey.accept(keys.keyOf(chunk.partition()));
        byte[] encoded = encoder.encode(chunk);
        byte[] entry = new byte[TIME_BYTES + encoded.length];
        Memory.putLong(entry, Memory.BYTES, timeMs);
        System.arraycopy(encoded, 0, entry, TIME_BYTES, encoded.length);
        chunks.append(entry);
        bytes.add(chunk, encoded);
        sizes.add(chunk.partition(), chunk);
        chunkCount++;
    }

    /** Returns the number of logged rows of all own partitions, retractions included. */
    public long rowCount() {
        return rowCount;
    }

    /** Returns the number of chunks in state of all own partitions. */
    public long chunkCount() {
        return chunkCount;
    }

    /** Counts restored rows and chunks. To be called once, before the first {@link #append}. */
    public void restore() throws Exception {
        for (int partition : keys.ownPartitions()) {
            rowCount += sizes.get(partition).rows();
            chunkCount += sizes.get(partition).chunks();
        }
    }

    /**
     * Emits the chunks of one of the own partitions, in order.
     *
     * @throws SuppressRestartsException if the snapshot lacks chunks
     */
    public void replay(int partition, ThrowingConsumer<AddedRows, Exception> consumer)
            throws Exception {
        long written = size(partition).chunks();
        setCurrentKey.accept(keys.keyOf(partition));
        long count = chunks.restoredSize();
        if (count < written) {
            throw new SuppressRestartsException(
                    SnapshotDamage.in(
                            chunks.name(),
                            "a log lacks chunks: partition=%d, chunks=%d, expected=%d"
                                    .formatted(partition, count, written)));
        }
        for (long i = 0; i < count; i++) {
            setCurrentKey.accept(keys.keyOf(partition));
            consumer.accept(read(chunks.get(i)));
        }
    }

    private AddedRows read(byte[] entry) {
        if (entry.length < TIME_BYTES + ChunkDescriptor.HEADER_BYTES) {
            throw new SuppressRestartsException(
                    SnapshotDamage.in(chunks.name(), "a chunk is cut off: bytes=" + entry.length));
        }
        byte[] encoded = Arrays.copyOfRange(entry, TIME_BYTES, entry.length);
        return new AddedRows(
                ChunkDecoder.decode(schema, encoded), Memory.getLong(entry, Memory.BYTES));
    }

    /** Returns the size of the log of one of the own partitions. */
    public PartitionSize size(int partition) throws Exception {
        writeTail(partition);
        return sizes.get(partition);
    }

    /** Replaces the log of a partition. */
    public void rewrite(int partition, List<AddedRows> rows) throws Exception {
        PartitionSize before = size(partition);
        rowCount -= before.rows();
        chunkCount -= before.chunks();
        setCurrentKey.accept(keys.keyOf(partition));
        chunks.clear();
        sizes.set(PartitionSize.empty(partition));
        for (AddedRows added : rows) {
            append(added.chunk(), added.timeMs());
        }
    }

    /** Completes the state for a snapshot. */
    public void snapshot() throws Exception {
        if (tails != null) {
            for (int partition : tails.keySet()) {
                writeTail(partition);
            }
        }
        sizes.snapshot();
    }
}
