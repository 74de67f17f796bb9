// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.bulk;

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
 *  ends:   int32[slots]        of the tuples that are not removed; only if tuples are removed
 *  marks:  int8[count]         1 if the tuple was matched; only if tuples are marked
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

    private final Region tuples;
    private final Region starts;
    private final Region ends;
    private final Region marks;
    private final long lengthBytes;
    private int tupleBytes;
    private int count;
    private int slotBits;

    /**
     * Allocates memory for the largest partition.
     *
     * @param maxTuples at most {@link #MAX_TUPLES}
     * @param maxBytes of the tuples
     * @param removes whether tuples are removed
     * @param marks whether tuples are marked
     */
    PartitionTable(
            long maxTuples, long maxBytes, boolean removes, boolean marks, Allocator allocator) {
        long slotsBytes = 4L << slotBits(maxTuples);
        Region[] regions = new Region[4];
        long[] lengths = {
            maxBytes, slotsBytes + 4, removes ? slotsBytes : 0, marks ? maxTuples : 0
        };
        long sum = 0;
        try {
            for (int i = 0; i < regions.length; i++) {
                regions[i] = allocator.allocate(lengths[i]);
                sum += lengths[i];
            }
        } catch (Throwable e) {
            closeAll(regions);
            throw e;
        }
        this.tuples = regions[0];
        this.starts = regions[1];
        this.ends = regions[2];
        this.marks = regions[3];
        this.lengthBytes = sum;
    }

    /** Returns the bits of the number of slots, which is 4 to 8 times that of the tuples. */
    private static int slotBits(long tuples) {
        int tupleBits = Long.SIZE - Long.numberOfLeadingZeros(Math.max(1, tuples) - 1);
        return tupleBits + SPARSE_BITS;
    }

    long lengthBytes() {
        return lengthBytes;
    }

    int count() {
        return count;
    }

    long tuples() {
        return tuples.address();
    }

    long starts() {
        return starts.address();
    }

    long ends() {
        return ends.address();
    }

    long marks() {
        return marks.address();
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

    /** Replaces the tuples, and clears all marks. */
    void build(Extents extents, long tupleCount, int tupleBytes) throws InterruptedException {
        this.tupleBytes = tupleBytes;
        this.count = (int) tupleCount;
        this.slotBits = slotBits(tupleCount);
        clear(starts.address(), (4L << slotBits) + 4);
        visitBlocks(extents, this::countSlots);
        sumUp();
        visitBlocks(extents, this::copyToSlots);
        if (ends.lengthBytes() > 0) {
            long source = starts.address() + 4;
            long target = ends.address();
            Blocks.forEach(
                    1L << slotBits,
                    (from, to) ->
                            Memory.copy(
                                    null,
                                    source + 4 * from,
                                    null,
                                    target + 4 * from,
                                    4 * (to - from)));
        }
        if (marks.lengthBytes() > 0) {
            clear(marks.address(), count);
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
        long starts = this.starts.address();
        int shift = slotShift();
        for (int i = 0; i < extent; i++) {
            long word = Memory.getLong(address + (long) i * tupleBytes);
            long slot = starts + 4 * (SlotHash.hash(word) >>> shift);
            Memory.putInt(slot, Memory.getInt(slot) + 1);
        }
    }

    /** Turns counts into ends. */
    private void sumUp() throws InterruptedException {
        long starts = this.starts.address();
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
        long starts = this.starts.address();
        long tuples = this.tuples.address();
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

    private static void closeAll(Region... regions) {
        for (Region region : regions) {
            if (region != null) {
                region.close();
            }
        }
    }

    @Override
    public void close() {
        closeAll(tuples, starts, ends, marks);
    }
}
