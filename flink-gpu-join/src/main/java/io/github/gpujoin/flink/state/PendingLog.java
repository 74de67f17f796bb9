// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import io.github.gpujoin.core.encoding.ChunkDecoder;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.flink.record.SnapshotDamage;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.IntConsumer;
import org.apache.flink.api.common.state.KeyedStateStore;
import org.apache.flink.runtime.execution.SuppressRestartsException;

/**
 * Rows of all inputs of a symmetric join that were received and not joined before a snapshot, under
 * their radix partition, in the order of arrival.
 *
 * <pre>
 *  entry: int32 number of the input | int32 rows whose results were emitted | chunk
 * </pre>
 *
 * <p>Not thread-safe.
 */
public final class PendingLog {

    private static final int ROWS_OFFSET = Integer.BYTES;
    private static final int CHUNK_OFFSET = 2 * Integer.BYTES;

    /**
     * A chunk that was received and not joined, or not completely.
     *
     * @param firstRow row from which on results are to be emitted
     */
    public record PendingRows(int input, Chunk chunk, int firstRow) {}

    private final String name;
    private final List<ChunkSchema> schemas;
    private final PartitionKeys keys;
    private final IntConsumer setCurrentKey;
    private final KeyedChunkLog chunks;

    /** Partitions with entries. */
    private final Set<Integer> filled = new HashSet<>();

    /**
     * @param name of the state
     * @param schemas of the chunks of each input
     * @param setCurrentKey of the operator that owns the keyed state
     */
    public PendingLog(
            KeyedStateStore store,
            String name,
            List<ChunkSchema> schemas,
            PartitionKeys keys,
            IntConsumer setCurrentKey) {
        this.name = name;
        this.schemas = List.copyOf(schemas);
        this.keys = keys;
        this.setCurrentKey = setCurrentKey;
        this.chunks = new KeyedChunkLog(store, name);
    }

    /** Adds a chunk. */
    public void add(PendingRows rows) throws Exception {
        int partition = rows.chunk.partition();
        setCurrentKey.accept(keys.keyOf(partition));
        byte[] bytes = rows.chunk.bytes();
        byte[] entry = new byte[CHUNK_OFFSET + bytes.length];
        Memory.putInt(entry, Memory.BYTES, rows.input);
        Memory.putInt(entry, Memory.BYTES + ROWS_OFFSET, rows.firstRow);
        System.arraycopy(bytes, 0, entry, CHUNK_OFFSET, bytes.length);
        chunks.append(entry);
        filled.add(partition);
    }

    /** Returns the partitions with chunks. */
    public Set<Integer> partitions() {
        return Set.copyOf(filled);
    }

    public boolean isEmpty() {
        return filled.isEmpty();
    }

    public boolean hasChunks(int partition) {
        return filled.contains(partition);
    }

    /** Returns and removes the chunks of a partition, in order. */
    public List<PendingRows> take(int partition) throws Exception {
        setCurrentKey.accept(keys.keyOf(partition));
        List<PendingRows> taken = new ArrayList<>();
        for (long i = 0; i < chunks.size(); i++) {
            taken.add(read(chunks.get(i)));
        }
        chunks.clear();
        filled.remove(partition);
        return taken;
    }

    /** Removes all chunks. */
    public void clear() throws Exception {
        for (int partition : filled) {
            setCurrentKey.accept(keys.keyOf(partition));
            chunks.clear();
        }
        filled.clear();
    }

    /** Finds the partitions with restored chunks. */
    public void restore() throws Exception {
        for (int partition : keys.ownPartitions()) {
            setCurrentKey.accept(keys.keyOf(partition));
            if (chunks.restoredSize() > 0) {
                filled.add(partition);
            }
        }
    }

    private PendingRows read(byte[] entry) {
        if (entry.length < CHUNK_OFFSET + ChunkDescriptor.HEADER_BYTES) {
            throw damage("a chunk is cut off: bytes=" + entry.length);
        }
        int number = Memory.getInt(entry, Memory.BYTES);
        if (number < 0 || number >= schemas.size()) {
            throw damage("a chunk is of no input: input=" + number);
        }
        byte[] bytes = Arrays.copyOfRange(entry, CHUNK_OFFSET, entry.length);
        Chunk chunk = ChunkDecoder.decode(schemas.get(number), bytes);
        int firstRow = Memory.getInt(entry, Memory.BYTES + ROWS_OFFSET);
        if (firstRow < 0 || firstRow > chunk.rowCount()) {
            throw damage(
                    "a chunk has an impossible row: firstRow=%d, rows=%d"
                            .formatted(firstRow, chunk.rowCount()));
        }
        return new PendingRows(number, chunk, firstRow);
    }

    private SuppressRestartsException damage(String fault) {
        return new SuppressRestartsException(SnapshotDamage.in(name, fault));
    }
}
