// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.bulk;

import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.MemoryRefusedException;
import io.github.gpujoin.core.region.PagedMemory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Tuples of one input by partition, as one thread wrote them: a list of blocks for each partition,
 * and segments of a file once they were spilled. A block is larger than the one before it, up to 64
 * KiB, so that small partitions waste little and large ones have few blocks. Not thread-safe.
 */
final class PartitionStore implements AutoCloseable {

    private static final int FIRST_BLOCK_BYTES = 64;
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
    private final long[] blockTuples;
    private final List<List<SpillFile.Segment>> segments = new ArrayList<>();

    /** Where the next tuple of a partition is written, and how many fit there. */
    private final long[] next;

    private final int[] room;
    private int longestBlockBytes;

    PartitionStore(int partitions, int tupleBytes, Allocator allocator) {
        this.memory = new PagedMemory(allocator);
        this.tupleBytes = tupleBytes;
        this.blocks = new long[partitions][0];
        this.blockCounts = new int[partitions];
        this.tupleCounts = new long[partitions];
        this.blockTuples = new long[partitions];
        this.next = new long[partitions];
        this.room = new int[partitions];
        for (int p = 0; p < partitions; p++) {
            segments.add(new ArrayList<>());
        }
    }

    /** Returns the tuples of a partition, spilled ones included. */
    long tupleCount(int partition) {
        return tupleCounts[partition];
    }

    /** Returns the tuples of a partition that were spilled. */
    List<SpillFile.Segment> segments(int partition) {
        return segments.get(partition);
    }

    /** Returns the bytes of the longest block in a file. */
    int longestBlockBytes() {
        return longestBlockBytes;
    }

    /** Returns the bytes of all blocks, and of what was allocated out of line. */
    long memoryBytes() {
        return memory.lengthBytes();
    }

    /**
     * Returns the address of memory for what tuples refer to.
     *
     * @throws MemoryRefusedException if there is none
     */
    long allocateOutOfLine(long lengthBytes) {
        return memory.allocate(lengthBytes);
    }

    /**
     * Copies tuples to the end of a partition.
     *
     * @throws MemoryRefusedException if there is no memory; some may be copied then
     */
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
            blockTuples[partition] += copied;
            tupleCounts[partition] += copied;
        }
    }

    /**
     * Writes all blocks to the file, as one segment for each partition, and frees them, and what
     * their tuples refer to.
     *
     * @throws io.github.gpujoin.core.engine.EngineUnavailableException if the file cannot be
     *     written
     * @throws InterruptedException if the thread is interrupted; the file is closed then
     */
    void spillTo(SpillFile file) throws InterruptedException {
        for (int p = 0; p < blocks.length; p++) {
            if (blockTuples[p] > 0) {
                long position = file.lengthBytes();
                forEachExtent(p, file::write);
                long bytes = file.lengthBytes() - position;
                segments.get(p).add(new SpillFile.Segment(file, position, bytes, blockTuples[p]));
            }
            blockTuples[p] = 0;
            blockCounts[p] = 0;
            room[p] = 0;
        }
        file.flush();
        longestBlockBytes = file.longestBlockBytes();
        memory.close();
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
        int tuples = capacity(number);
        long address = memory.allocate((long) tuples * tupleBytes);
        if (number == blocks[partition].length) {
            blocks[partition] = Arrays.copyOf(blocks[partition], Math.max(4, 2 * number));
        }
        blocks[partition][number] = address;
        blockCounts[partition]++;
        next[partition] = address;
        room[partition] = tuples;
    }

    private int capacity(int number) {
        int bytes = Math.min(LARGEST_BLOCK_BYTES, FIRST_BLOCK_BYTES << Math.min(number, 16));
        return Math.max(1, bytes / tupleBytes);
    }

    /** Visits the tuples of a partition that were not spilled. */
    void forEachExtent(int partition, ExtentVisitor visitor) throws InterruptedException {
        long left = blockTuples[partition];
        for (int number = 0; number < blockCounts[partition]; number++) {
            int count = (int) Math.min(left, capacity(number));
            visitor.visit(blocks[partition][number], count);
            left -= count;
        }
    }

    @Override
    public void close() {
        memory.close();
    }
}
