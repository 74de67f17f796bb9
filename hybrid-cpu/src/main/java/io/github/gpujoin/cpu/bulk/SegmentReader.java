// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.bulk;

import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import java.io.IOException;
import java.util.List;

/**
 * Reads spilled tuples for one thread, a few blocks at a time. Tuples of a build side are copied to
 * the table from there, so they are read once for each pass over them. Not thread-safe.
 */
final class SegmentReader implements AutoCloseable {

    /** Some blocks of a segment. */
    private final Region blocks;

    /**
     * @param blockBytes of the longest block
     */
    SegmentReader(int blockBytes, Allocator allocator) {
        this.blocks = allocator.allocate(blockBytes);
    }

    long lengthBytes() {
        return blocks.lengthBytes();
    }

    /**
     * Returns the tuples of a build side, which are valid while they are visited.
     *
     * @param outOfLine address of memory for what spilled tuples refer to
     */
    PartitionTable.Extents load(List<PartitionStore> stores, int partition, long outOfLine) {
        return visitor -> {
            long next = outOfLine;
            for (PartitionStore store : stores) {
                store.forEachExtent(partition, visitor);
                for (SpillFile.Segment segment : store.segments(partition)) {
                    next = load(segment, next, visitor);
                }
            }
        };
    }

    /** Returns the end of what the tuples refer to, which is copied to an address. */
    private long load(SpillFile.Segment segment, long target, PartitionStore.ExtentVisitor visitor)
            throws InterruptedException {
        TupleLayout layout = segment.file().layout();
        long[] next = {target};
        forEachBlock(
                segment,
                (tuples, count, outOfLineBytes) -> {
                    if (layout.hasOutOfLine()) {
                        long source = tuples + (long) count * layout.tupleBytes();
                        Memory.copy(null, source, null, next[0], outOfLineBytes);
                        refer(layout, tuples, count, next[0]);
                        next[0] += outOfLineBytes;
                    }
                    visitor.visit(tuples, count);
                });
        return next[0];
    }

    /** Visits the tuples of a segment. The next call of the visitor may overwrite them. */
    void probe(SpillFile.Segment segment, PartitionStore.ExtentVisitor visitor)
            throws InterruptedException {
        TupleLayout layout = segment.file().layout();
        forEachBlock(
                segment,
                (tuples, count, outOfLineBytes) -> {
                    refer(layout, tuples, count, tuples + (long) count * layout.tupleBytes());
                    visitor.visit(tuples, count);
                });
    }

    /** Lets tuples refer to what lies at an address in their order. */
    private static void refer(TupleLayout layout, long tuples, int count, long address) {
        if (layout.hasOutOfLine()) {
            long next = address;
            for (int i = 0; i < count; i++) {
                long tuple = tuples + (long) i * layout.tupleBytes();
                Memory.putLong(tuple + layout.outOfLineOffset(), next);
                next += layout.outOfLineBytes(next);
            }
        }
    }

    // ------------------------------------------------------------------ blocks

    /** Receives the tuples of a block and, behind them, what they refer to. */
    @FunctionalInterface
    private interface BlockVisitor {
        void visit(long tuples, int count, int outOfLineBytes) throws InterruptedException;
    }

    /** Reads as many blocks as fit the memory, and again those that were not complete. */
    private void forEachBlock(SpillFile.Segment segment, BlockVisitor visitor)
            throws InterruptedException {
        long end = segment.position() + segment.lengthBytes();
        for (long position = segment.position(); position < end; ) {
            int bytes = (int) Math.min(blocks.lengthBytes(), end - position);
            segment.file().read(position, blocks.address(), bytes);
            int visited = visitBlocks(segment.file().layout(), bytes, visitor);
            if (visited == 0) {
                throw SpillFile.failed(
                        "Spilled rows cannot be read: position=" + position,
                        new IOException("The block is damaged"));
            }
            position += visited;
        }
    }

    /** Returns the bytes of the complete blocks. */
    private int visitBlocks(TupleLayout layout, int bytes, BlockVisitor visitor)
            throws InterruptedException {
        int at = 0;
        while (at + SpillFile.HEADER_BYTES <= bytes) {
            int length = Memory.getInt(blocks.address() + at);
            int count = Memory.getInt(blocks.address() + at + Integer.BYTES);
            long tuplesBytes = (long) count * layout.tupleBytes();
            long outOfLineBytes = length - SpillFile.HEADER_BYTES - tuplesBytes;
            if (count <= 0 || outOfLineBytes < 0 || length > bytes - at) {
                return at;
            }
            visitor.visit(
                    blocks.address() + at + SpillFile.HEADER_BYTES, count, (int) outOfLineBytes);
            at += length;
        }
        return at;
    }

    @Override
    public void close() {
        blocks.close();
    }
}
