// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.bulk;

import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.layout.SlotHash;
import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;

/**
 * The build tuples of one partition, sorted by slot: the tuples of a slot lie one after another, so
 * that a probe reads two bounds and then adjacent tuples. The slot is the highest bits of the hash;
 * the partition is its lowest bits. Reused from partition to partition. Not thread-safe.
 *
 * <pre>
 *  tuples: tuple[count]
 *  starts: int32[slots + 1]    number of the first tuple of each slot, then count
 *                              padding to 8
 *  ends:   int32[slots]        of the tuples that are not removed; only if tuples are removed
 *  marks:  int8[count]         1 if the tuple was matched; only if tuples are marked
 *                              padding to 8
 * </pre>
 */
final class PartitionTable implements AutoCloseable {

    /** So that numbers of tuples fit 31 bits. */
    static final long MAX_TUPLES = 1 << 30;

    /**
     * Most slots then have at most one tuple, so that the processor predicts the loop over them. In
     * a partition that fits the cache, a mispredicted branch costs more than a longer directory.
     */
    private static final int SPARSE_BITS = 2;

    private final BulkJoinKind kind;
    private final Region memory;
    private long starts;
    private long ends;
    private long marks;
    private int tupleBytes;
    private int count;
    private int slotBits;
    private boolean removes;
    private boolean marksTuples;

    /**
     * @param lengthBytes of the largest partition, and of what its tuples refer to if they are read
     *     from files
     */
    PartitionTable(BulkJoinKind kind, long lengthBytes, Allocator allocator) {
        this.kind = kind;
        this.memory = allocator.allocate(lengthBytes);
    }

    /**
     * Returns the bytes of the table of a partition.
     *
     * @param tuples at most {@link #MAX_TUPLES}
     */
    static long lengthBytes(BulkJoinKind kind, JoinSide build, long tuples, int tupleBytes) {
        long slotsBytes = 4L << slotBits(tuples);
        return tuples * tupleBytes
                + slotsBytes
                + 8
                + (removes(kind, build) ? slotsBytes : 0)
                + (marks(kind, build) ? tuples + 7 & -8 : 0);
    }

    private static boolean removes(BulkJoinKind kind, JoinSide build) {
        return !kind.returnsPairs() && build == JoinSide.LEFT;
    }

    private static boolean marks(BulkJoinKind kind, JoinSide build) {
        return kind.returnsPairs() && kind.keepsUnmatched(build);
    }

    /** Returns the bits of the number of slots, which is 4 to 8 times that of the tuples. */
    private static int slotBits(long tuples) {
        int tupleBits = Long.SIZE - Long.numberOfLeadingZeros(Math.max(1, tuples) - 1);
        return tupleBits + SPARSE_BITS;
    }

    long lengthBytes() {
        return memory.lengthBytes();
    }

    int count() {
        return count;
    }

    long tuples() {
        return memory.address();
    }

    long starts() {
        return starts;
    }

    long ends() {
        return ends;
    }

    long marks() {
        return marks;
    }

    /** Returns how far the hash of a key is shifted to the right to be its slot. */
    int slotShift() {
        return Long.SIZE - slotBits;
    }

    /** Tuples in memory, which can be visited several times. */
    @FunctionalInterface
    interface Extents {
        void forEach(PartitionStore.ExtentVisitor visitor) throws InterruptedException;
    }

    /**
     * Assigns the memory to a partition, whose {@link #build} follows.
     *
     * @return the address of the memory behind the table
     */
    long open(JoinSide build, long tupleCount, int tupleBytes) {
        this.tupleBytes = tupleBytes;
        this.count = (int) tupleCount;
        this.slotBits = slotBits(tupleCount);
        this.removes = removes(kind, build);
        this.marksTuples = marks(kind, build);
        long slotsBytes = 4L << slotBits;
        this.starts = memory.address() + tupleCount * tupleBytes;
        this.ends = starts + slotsBytes + 8;
        this.marks = ends + (removes ? slotsBytes : 0);
        return memory.address() + lengthBytes(kind, build, tupleCount, tupleBytes);
    }

    /** Copies the tuples to their slots, and clears all marks. */
    void build(Extents extents) throws InterruptedException {
        clear(starts, (4L << slotBits) + 4);
        visitBlocks(extents, this::countSlots);
        sumUp();
        visitBlocks(extents, this::copyToSlots);
        if (removes) {
            Blocks.forEach(
                    1L << slotBits,
                    (from, to) ->
                            Memory.copy(
                                    null,
                                    starts + 4 * (from + 1),
                                    null,
                                    ends + 4 * from,
                                    4 * (to - from)));
        }
        if (marksTuples) {
            clear(marks, count);
        }
    }

    private static void clear(long address, long lengthBytes) throws InterruptedException {
        Blocks.forEach(
                lengthBytes, (from, to) -> Memory.fill(null, address + from, to - from, (byte) 0));
    }

    private void visitBlocks(Extents extents, PartitionStore.ExtentVisitor visitor)
            throws InterruptedException {
        extents.forEach(
                (address, extent) ->
                        Blocks.forEach(
                                extent,
                                (from, to) ->
                                        visitor.visit(
                                                address + from * tupleBytes, (int) (to - from))));
    }

    private void countSlots(long address, int extent) {
        long starts = this.starts;
        int shift = slotShift();
        for (int i = 0; i < extent; i++) {
            long word = Memory.getLong(address + (long) i * tupleBytes);
            long slot = starts + 4 * (SlotHash.hash(word) >>> shift);
            Memory.putInt(slot, Memory.getInt(slot) + 1);
        }
    }

    /** Turns counts into ends. */
    private void sumUp() throws InterruptedException {
        long starts = this.starts;
        Blocks.forEach(
                (1L << slotBits) + 1,
                (from, to) -> {
                    int end = from == 0 ? 0 : Memory.getInt(starts + 4 * (from - 1));
                    for (long slot = from; slot < to; slot++) {
                        end += Memory.getInt(starts + 4 * slot);
                        Memory.putInt(starts + 4 * slot, end);
                    }
                });
    }

    /** Fills each slot from its end, so that ends become starts. */
    private void copyToSlots(long address, int extent) {
        long starts = this.starts;
        long tuples = tuples();
        int shift = slotShift();
        int bytes = tupleBytes;
        for (int i = 0; i < extent; i++) {
            long source = address + (long) i * bytes;
            long slot = starts + 4 * (SlotHash.hash(Memory.getLong(source)) >>> shift);
            int number = Memory.getInt(slot) - 1;
            Memory.putInt(slot, number);
            copyTuple(source, tuples + (long) number * bytes, bytes);
        }
    }

    static void copyTuple(long source, long target, int bytes) {
        for (int at = 0; at < bytes; at += Long.BYTES) {
            Memory.putLong(target + at, Memory.getLong(source + at));
        }
    }

    @Override
    public void close() {
        memory.close();
    }
}
