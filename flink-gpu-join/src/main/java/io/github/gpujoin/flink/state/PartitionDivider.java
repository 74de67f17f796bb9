// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.KeyHash;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.util.function.ThrowingConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Divides chunks of many radix partitions into chunks of one partition each, as state needs them.
 * It collects chunks first, since more chunks make larger parts. Rows of a partition keep their
 * order. Not thread-safe.
 */
public final class PartitionDivider {

    /** Collected bytes that {@link #isFull} reports as full. */
    static final int FULL_BYTES = 8 << 20;

    /** Payload of the largest parts. */
    private static final int PART_BYTES = 128 << 10;

    private record Collected(Chunk chunk, int firstRow) {}

    private final @Nullable KeyGroupRange range;
    private final int partitions;
    private final @Nullable ChunkSchema schema;
    private final int keyColumn;
    private final List<Collected> collected = new ArrayList<>();
    private long bytes;
    private int rowCount;
    private long sequence;

    /**
     * @param keys of the receiving subtask
     * @param schema of the chunks
     * @param keyColumn whose hash is the partition; a fixed-width integer column
     */
    public PartitionDivider(PartitionKeys keys, ChunkSchema schema, int keyColumn) {
        this.range = keys.ownPartitions();
        this.partitions = keys.partitions();
        this.schema = schema;
        this.keyColumn = keyColumn;
    }

    private PartitionDivider() {
        this.range = null;
        this.partitions = 0;
        this.schema = null;
        this.keyColumn = -1;
    }

    /** A divider of a side that is not partitioned; it rejects all chunks. */
    public static PartitionDivider none() {
        return new PartitionDivider();
    }

    /**
     * Collects the rows of a chunk. All chunks are of one side, and have the same epoch.
     *
     * @param firstRow index of the first row to collect
     */
    public void add(Chunk chunk, int firstRow) {
        if (schema == null) {
            throw new IllegalStateException(
                    "Chunk of many partitions on a side that is not partitioned: %s. Restart the job."
                            .formatted(chunk));
        }
        collected.add(new Collected(chunk, firstRow));
        // An encoded chunk is decoded when it is divided.
        long decodedBytes = (long) chunk.rowCount() * schema.fixedRowBytes();
        bytes += Math.max(chunk.lengthBytes(), decodedBytes);
        rowCount += chunk.rowCount() - firstRow;
    }

    public boolean isEmpty() {
        return collected.isEmpty();
    }

    /** Whether the collected bytes should be divided. */
    public boolean isFull() {
        return bytes >= FULL_BYTES;
    }

    /**
     * Emits all rows in chunks of one partition each, and clears the collection.
     *
     * @throws IllegalStateException if a row is of a partition of another subtask
     */
    public void divide(ThrowingConsumer<Chunk, Exception> parts) throws Exception {
        if (collected.isEmpty()) {
            return;
        }
        List<Collected> chunks = List.copyOf(collected);
        int[] ends = new int[range.getNumberOfKeyGroups() + 1];
        int[] chunkOf = new int[rowCount];
        int[] rowOf = new int[rowCount];
        sort(chunks, ends, chunkOf, rowOf);
        collected.clear();
        bytes = 0;
        rowCount = 0;
        int dimension = chunks.get(0).chunk.dimension();
        long epoch = chunks.get(0).chunk.epoch();
        ChunkBuilder builder = new ChunkBuilder(schema, PART_BYTES);
        int next = 0;
        for (int index = 0; index + 1 < ends.length; index++) {
            int partition = range.getStartKeyGroup() + index;
            while (next < ends[index]) {
                builder.addRow(chunks.get(chunkOf[next]).chunk, rowOf[next]);
                next++;
                if (builder.isFull() || next == ends[index]) {
                    parts.accept(builder.seal(dimension, partition, epoch, sequence++));
                }
            }
        }
    }

    /** A stable counting sort; {@code ends[i]} is where the rows of the i-th own partition end. */
    private void sort(List<Collected> chunks, int[] ends, int[] chunkOf, int[] rowOf) {
        int[] indexOf = new int[rowCount];
        int row = 0;
        for (Collected next : chunks) {
            for (int r = next.firstRow; r < next.chunk.rowCount(); r++) {
                int index = index(next.chunk.getLong(keyColumn, r));
                indexOf[row++] = index;
                ends[index + 1]++;
            }
        }
        for (int index = 0; index + 1 < ends.length; index++) {
            ends[index + 1] += ends[index];
        }
        row = 0;
        for (int c = 0; c < chunks.size(); c++) {
            Collected next = chunks.get(c);
            for (int r = next.firstRow; r < next.chunk.rowCount(); r++) {
                int at = ends[indexOf[row++]]++;
                chunkOf[at] = c;
                rowOf[at] = r;
            }
        }
    }

    private int index(long key) {
        int partition = KeyHash.partition(KeyHash.hash(key), partitions);
        if (!range.contains(partition)) {
            throw new IllegalStateException(
                    "Row of another subtask: partition=%d, own=%s. Restart the job."
                            .formatted(partition, range));
        }
        return partition - range.getStartKeyGroup();
    }
}
