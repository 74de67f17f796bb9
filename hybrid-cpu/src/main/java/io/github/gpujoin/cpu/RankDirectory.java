// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;

/**
 * A bitmap of slots with a running bit count: returns whether a slot is occupied and how many
 * occupied slots precede it.
 *
 * <p>It needs two bits a slot, so that it stays in cache when the rows do not. After Barber et al.,
 * "Memory-Efficient Hash Joins" (PVLDB 8(4), 2014), section 3.
 *
 * <pre>
 *   63                               32 31                                0
 *  +-----------------------------------+-----------------------------------+
 *  | bits set in all previous blocks   | bit s: 32 * block + s is occupied |
 *  +-----------------------------------+-----------------------------------+
 * </pre>
 *
 * <p>Immutable after {@link #sealing()}.
 */
final class RankDirectory implements AutoCloseable {

    private static final int RANK_SHIFT = 32;
    private static final int SLOT_MASK = 31;
    private static final int BLOCK_SHIFT = 5;

    private final Region region;
    private final long address;
    private final int blocks;

    /** Bits set in the sealed blocks. */
    private long sealedBits;

    /** Allocates slots, which are undefined until {@link #clearing} is done. */
    RankDirectory(int slots, Allocator allocator) {
        this.blocks = (slots + SLOT_MASK) >>> BLOCK_SHIFT;
        this.region = allocator.allocate((long) blocks * Long.BYTES);
        this.address = region.address();
    }

    /** Clears all slots. */
    Work clearing() {
        return Work.zero(region);
    }

    long lengthBytes() {
        return region.lengthBytes();
    }

    void occupy(int slot) {
        long at = blockAddress(slot);
        Memory.putLong(at, Memory.getLong(at) | 1L << (slot & SLOT_MASK));
    }

    /**
     * Occupies a slot.
     *
     * @return 1 if it was free, else 0
     */
    int occupyIfFree(int slot) {
        long at = blockAddress(slot);
        long block = Memory.getLong(at);
        Memory.putLong(at, block | 1L << (slot & SLOT_MASK));
        return 1 - isOccupied(block, slot);
    }

    /** Computes the bit counts, after all slots are occupied. */
    Work sealing() {
        return Work.range(blocks, this::seal);
    }

    private void seal(long fromBlock, long toBlock) {
        long rank = sealedBits;
        for (long block = fromBlock; block < toBlock; block++) {
            long at = address + 8L * block;
            long bits = Memory.getLong(at);
            Memory.putLong(at, bits | rank << RANK_SHIFT);
            rank += Long.bitCount(bits);
        }
        sealedBits = rank;
    }

    boolean isOccupied(int slot) {
        return isOccupied(Memory.getLong(blockAddress(slot)), slot) != 0;
    }

    /** Returns the number of occupied slots before this one. */
    long rank(int slot) {
        return rank(Memory.getLong(blockAddress(slot)), slot);
    }

    /**
     * Selects the slots of {@code int32 slots[count]} that are occupied.
     *
     * @param scratch address of room for {@code int64[count]}
     * @param firstNumber number of the first slot; the others are numbered consecutively
     * @param numbers address of room for {@code int32[count]}: numbers of the occupied slots
     * @param elements address of room for {@code int64[count]}: {@code base + rank * stride} of
     *     each, its element in an array that the directory indexes
     * @return number of occupied slots
     */
    int findOccupied(
            long slots,
            int count,
            long scratch,
            int firstNumber,
            long numbers,
            long elements,
            long base,
            long stride) {
        long blocks = address;
        // Loads only: the shorter the loop, the more loads are in flight.
        for (int i = 0; i < count; i++) {
            int slot = Memory.getInt(slots + 4L * i);
            Memory.putLong(scratch + 8L * i, Memory.getLong(blocks + 8L * (slot >>> BLOCK_SHIFT)));
        }
        int found = 0;
        for (int i = 0; i < count; i++) {
            int slot = Memory.getInt(slots + 4L * i);
            long block = Memory.getLong(scratch + 8L * i);
            Memory.putInt(numbers + 4L * found, firstNumber + i);
            Memory.putLong(elements + 8L * found, base + rank(block, slot) * stride);
            found += isOccupied(block, slot);
        }
        return found;
    }

    private long blockAddress(int slot) {
        return address + 8L * (slot >>> BLOCK_SHIFT);
    }

    private static int isOccupied(long block, int slot) {
        return (int) (block >>> (slot & SLOT_MASK)) & 1;
    }

    private static long rank(long block, int slot) {
        return (block >>> RANK_SHIFT) + Long.bitCount(block & ((1L << (slot & SLOT_MASK)) - 1));
    }

    @Override
    public void close() {
        region.close();
    }
}
