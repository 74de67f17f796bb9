// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.record.SnapshotDamage;
import java.util.BitSet;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntConsumer;
import org.apache.flink.api.common.state.KeyedStateStore;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.runtime.execution.SuppressRestartsException;

/**
 * Marks rows of a partitioned dimension that are in a result. The number of a row is its position
 * in its partition's build log. The log and the marks move with the partition's key group, so
 * numbers stay valid across snapshots and rescaling.
 *
 * <pre>
 *  marked-build-rows: keyed map, under the partition
 *    int block -> bits of rows from block * 65536, the lowest bit of a byte first, without
 *                 zero bytes at the end
 * </pre>
 */
public final class BuildRowMarks {

    private static final String NAME = "marked-build-rows";
    private static final int BLOCK_BITS = 16;

    /** Rows of a partition, and the blocks of marks that are not in state yet. */
    private static final class Partition {
        private final BitSet marks = new BitSet();
        private final BitSet newBlocks = new BitSet();
        private int rowCount;
    }

    private final PartitionKeys keys;
    private final IntConsumer setCurrentKey;
    private final int numberColumn;
    private final MapState<Integer, byte[]> blocks;
    private final Map<Integer, Partition> partitions = new TreeMap<>();

    /**
     * @param setCurrentKey of the operator that owns the keyed state
     * @param numberColumn fixed INT64 column of build chunks for the row's number. If the row's key
     *     is null, the column holds a negative value, the complement of the number
     */
    public BuildRowMarks(
            KeyedStateStore store,
            PartitionKeys keys,
            IntConsumer setCurrentKey,
            int numberColumn) {
        this.keys = keys;
        this.setCurrentKey = setCurrentKey;
        this.numberColumn = numberColumn;
        this.blocks =
                store.getMapState(
                        new MapStateDescriptor<>(
                                NAME,
                                IntSerializer.INSTANCE,
                                BytePrimitiveArraySerializer.INSTANCE));
    }

    /** Reads the marks of a snapshot. To be called once, after a restore. */
    public void restore() throws Exception {
        for (int partition : keys.ownPartitions()) {
            setCurrentKey.accept(keys.keyOf(partition));
            for (Map.Entry<Integer, byte[]> entry : blocks.entries()) {
                int block = entry.getKey();
                BitSet bits = BitSet.valueOf(entry.getValue());
                if (block < 0
                        || block > Integer.MAX_VALUE >> BLOCK_BITS
                        || bits.length() > 1 << BLOCK_BITS) {
                    throw new SuppressRestartsException(
                            SnapshotDamage.in(
                                    NAME,
                                    "it marks build rows that cannot exist: partition=%d, block=%d, rows=%d"
                                            .formatted(partition, block, bits.length())));
                }
                int first = block << BLOCK_BITS;
                bits.stream().forEach(bit -> partition(partition).marks.set(first + bit));
            }
        }
    }

    /** Numbers the rows of the next chunk in its partition's log. */
    public Chunk number(Chunk chunk) {
        int first = count(chunk.partition(), chunk.rowCount());
        return chunk.withLongs(
                numberColumn,
                row -> {
                    long number = first + row;
                    return chunk.getLong(numberColumn, row) < 0 ? ~number : number;
                });
    }

    /**
     * Counts numbered rows, the next ones in their partition's log.
     *
     * @return number of the first row
     * @throws IllegalStateException if the partition has more than 2^31 - 1 rows
     */
    public int count(int partition, long rows) {
        Partition counted = partition(partition);
        int first = counted.rowCount;
        if (first > Integer.MAX_VALUE - rows) {
            throw new IllegalStateException(
                    "Too many build rows in a partition of an outer join: partition=%d, rows=%d, limit=%d. Raise env.setMaxParallelism(n)."
                            .formatted(partition, first + rows, Integer.MAX_VALUE));
        }
        counted.rowCount += (int) rows;
        return first;
    }

    /** Marks the row with the number. */
    public void mark(int partition, long number) {
        Partition marked = partition(partition);
        int row = (int) number;
        if (!marked.marks.get(row)) {
            marked.marks.set(row);
            marked.newBlocks.set(row >> BLOCK_BITS);
        }
    }

    public boolean isMarked(int partition, long number) {
        return partition(partition).marks.get((int) number);
    }

    /** Number of a row of a numbered chunk, also if its key is null. */
    public long number(Chunk chunk, int row) {
        long number = chunk.getLong(numberColumn, row);
        return number < 0 ? ~number : number;
    }

    /** Writes the marks since the last call to the state. */
    public void snapshot() throws Exception {
        for (Map.Entry<Integer, Partition> entry : partitions.entrySet()) {
            Partition partition = entry.getValue();
            if (partition.newBlocks.isEmpty()) {
                continue;
            }
            setCurrentKey.accept(keys.keyOf(entry.getKey()));
            for (int block : partition.newBlocks.stream().toArray()) {
                int from = block << BLOCK_BITS;
                blocks.put(block, partition.marks.get(from, end(from)).toByteArray());
            }
            partition.newBlocks.clear();
        }
    }

    private static int end(int from) {
        return from > Integer.MAX_VALUE - (1 << BLOCK_BITS)
                ? Integer.MAX_VALUE
                : from + (1 << BLOCK_BITS);
    }

    private Partition partition(int partition) {
        return partitions.computeIfAbsent(partition, p -> new Partition());
    }
}
