// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.bulk;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.PagedMemory;
import java.util.Arrays;

/**
 * Tuples of one input by partition, as one thread wrote them: a list of blocks for each partition.
 * A block is larger than the one before it, up to 64 KiB, so that small partitions waste little and
 * large ones have few blocks. Not thread-safe.
 */
final class PartitionStore {

    private static final int FIRST_BLOCK_BYTES = 512;
    private static final int LARGEST_BLOCK_BYTES = 64 << 10;

    /** Receives tuples that lie one after another. */
    @FunctionalInterface
    interface ExtentVisitor {
        void visit(long address, int count) throws InterruptedException;
    }

    private final PagedMemory memory;
    private final int tupleBytes;
    private final long[][] blocks;
    private final int[] blockCounts;
    private final long[] tupleCounts;

    /** Where the next tuple of a partition is written, and how many fit there. */
    private final long[] next;

    private final int[] room;

    /**
     * @param memory of the blocks, which outlives this object
     */
    PartitionStore(int partitions, int tupleBytes, PagedMemory memory) {
        this.memory = memory;
        this.tupleBytes = tupleBytes;
        this.blocks = new long[partitions][0];
        this.blockCounts = new int[partitions];
        this.tupleCounts = new long[partitions];
        this.next = new long[partitions];
        this.room = new int[partitions];
    }

    long tupleCount(int partition) {
        return tupleCounts[partition];
    }

    /** Copies tuples to the end of a partition. */
    void append(int partition, long source, int count) {
        long from = source;
        int left = count;
        while (left > 0) {
            if (room[partition] == 0) {
                addBlock(partition);
            }
            int copied = Math.min(left, room[partition]);
            long bytes = (long) copied * tupleBytes;
            copy(from, next[partition], bytes);
            next[partition] += bytes;
            room[partition] -= copied;
            from += bytes;
            left -= copied;
        }
        tupleCounts[partition] += count;
    }

    /** Tuples are multiples of 8 bytes. A call costs more than the words of a short run. */
    private static void copy(long source, long target, long lengthBytes) {
        if (lengthBytes > 256) {
            Memory.copy(null, source, null, target, lengthBytes);
            return;
        }
        for (long at = 0; at < lengthBytes; at += Long.BYTES) {
            Memory.putLong(target + at, Memory.getLong(source + at));
        }
    }

    private void addBlock(int partition) {
        int number = blockCounts[partition];
        int tuples = blockTuples(number);
        long address = memory.allocate((long) tuples * tupleBytes);
        if (number == blocks[partition].length) {
            blocks[partition] = Arrays.copyOf(blocks[partition], Math.max(4, 2 * number));
        }
        blocks[partition][number] = address;
        blockCounts[partition]++;
        next[partition] = address;
        room[partition] = tuples;
    }

    private int blockTuples(int number) {
        int bytes = Math.min(LARGEST_BLOCK_BYTES, FIRST_BLOCK_BYTES << Math.min(number, 16));
        return Math.max(1, bytes / tupleBytes);
    }

    /** Visits all tuples of a partition, in the order of writing. */
    void forEachExtent(int partition, ExtentVisitor visitor) throws InterruptedException {
        long left = tupleCounts[partition];
        for (int number = 0; number < blockCounts[partition]; number++) {
            int count = (int) Math.min(left, blockTuples(number));
            visitor.visit(blocks[partition][number], count);
            left -= count;
        }
    }
}
