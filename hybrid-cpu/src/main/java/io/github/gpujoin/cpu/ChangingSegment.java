// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.SlotHash;
import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.PagedMemory;
import io.github.gpujoin.core.region.Region;

/**
 * A segment of a {@link ChangingTable}: rows with unique keys in open addressing with linear
 * probing, and their variable-width bytes. Confined to the thread of the table.
 *
 * <pre>
 *  base:     0 1 1 0 1 ...     a bit for each slot: whether it is occupied
 *  rows:     - A B - C ...     rows in {@link RowLayout}, each in the first slot from its hash on
 *                              that was free
 *  values:   a a b a c ...     int32 lengthBytes and the bytes, referenced by rows; append-only
 * </pre>
 *
 * <p>A deletion leaves no tombstone: later rows that would no longer be found move up (Knuth, The
 * Art of Computer Programming, volume 3, section 6.4, algorithm R).
 */
final class ChangingSegment implements AutoCloseable {

    /** Dead bytes below which {@link #compact} does not pay off. */
    private static final long MIN_COMPACTION_BYTES = 16 << 10;

    private final RowLayout layout;
    private final Allocator allocator;
    private final int depth;
    private final int slots;
    private final Region region;

    /** Address of the region, read without a check that it is open. */
    private final long base;

    private PagedMemory variableWidth;
    private int rowCount;

    /** Number of rows whose hash is also that of an earlier row of their probe sequence. */
    private int repeatedHashCount;

    private long deadVariableWidthBytes;
    private long liveVariableWidthBytes;

    /**
     * @param depth upper bits of the hash that all keys of the segment share
     * @param slots a power of two, at least 64
     */
    ChangingSegment(RowLayout layout, Allocator allocator, int depth, int slots) {
        this.layout = layout;
        this.allocator = allocator;
        this.depth = depth;
        this.slots = slots;
        this.region = allocator.allocate(rowsOffset(slots) + (long) slots * layout.rowBytes());
        this.base = region.address();
        this.variableWidth = new PagedMemory(allocator);
        Memory.fill(null, base, rowsOffset(slots), (byte) 0);
    }

    // ------------------------------------------------------------------ layout

    /** Returns the first slot of the probe sequence of a hash. */
    static int home(long hash, int slots) {
        return (int) hash & slots - 1;
    }

    /** Returns the offset of the first row from the base, in bytes. */
    static int rowsOffset(int slots) {
        return slots / Byte.SIZE;
    }

    long base() {
        return base;
    }

    int depth() {
        return depth;
    }

    int slots() {
        return slots;
    }

    int rowCount() {
        return rowCount;
    }

    int repeatedHashCount() {
        return repeatedHashCount;
    }

    long lengthBytes() {
        return region.lengthBytes() + variableWidth.lengthBytes();
    }

    /** Returns whether another row would make probing slow. */
    boolean isFull() {
        return rowCount >= slots / 2;
    }

    /** Returns whether another row would make probing very slow. */
    boolean isCrowded() {
        return rowCount >= slots / 4 * 3;
    }

    /** Returns whether deleted or replaced rows own most variable-width bytes. */
    boolean isMostlyDead() {
        return deadVariableWidthBytes > Math.max(liveVariableWidthBytes, MIN_COMPACTION_BYTES);
    }

    private int home(long key) {
        return home(SlotHash.hash(key), slots);
    }

    private int next(int slot) {
        return slot + 1 & slots - 1;
    }

    /** Returns the number of slots from one to another, with wrap-around. */
    private int distance(int from, int to) {
        return to - from & slots - 1;
    }

    private boolean isOccupied(int slot) {
        return PresenceBits.get(base, slot) != 0;
    }

    private long address(int slot) {
        return base + rowsOffset(slots) + (long) slot * layout.rowBytes();
    }

    /**
     * Returns the slot of the key of a chunk's row, or the free slot where it would be inserted.
     *
     * @param key integer of the chunk's row
     */
    private int find(long key, Chunk chunk, int row) {
        int slot = home(key);
        while (isOccupied(slot) && !layout.hasKey(address(slot), key, chunk, row)) {
            slot = next(slot);
        }
        return slot;
    }

    /** Returns whether another slot of the probe sequence of a hashed key has the same hash. */
    private boolean isRepeated(int slot, long key) {
        for (int other = home(key); isOccupied(other); other = next(other)) {
            if (other != slot && layout.key(address(other)) == key) {
                return true;
            }
        }
        return false;
    }

    /** Adds to {@link #repeatedHashCount} if the key of a slot is hashed and its hash repeats. */
    private void countRepeated(int slot, long key, int rows) {
        if (layout.isHashed() && isRepeated(slot, key)) {
            repeatedHashCount += rows;
        }
    }

    /**
     * Returns the address of the next row of the probe sequence with the same integer as key; 0
     * after the last one. Only rows of hashed keys have a next one.
     */
    long nextMatch(long row) {
        long key = layout.key(row);
        int slot = (int) ((row - base - rowsOffset(slots)) / layout.rowBytes());
        for (slot = next(slot); isOccupied(slot); slot = next(slot)) {
            if (layout.key(address(slot)) == key) {
                return address(slot);
            }
        }
        return 0;
    }

    // ------------------------------------------------------------------ changes

    boolean contains(long key, Chunk chunk, int row) {
        return isOccupied(find(key, chunk, row));
    }

    /** Inserts or replaces the row of the key of a chunk's row. A slot must be free. */
    void upsert(long key, Chunk chunk, int row) {
        long variableWidthRow =
                layout.variableWidthOffset() < 0 ? 0 : copyVariableWidth(chunk, row);
        int slot = find(key, chunk, row);
        if (isOccupied(slot)) {
            dropVariableWidth(slot);
        } else {
            countRepeated(slot, key, 1);
            PresenceBits.set(base, slot);
            rowCount++;
        }
        write(chunk, row, address(slot), variableWidthRow);
    }

    /**
     * Deletes the row of the key of a chunk's row.
     *
     * @return whether there was one
     */
    boolean delete(long key, Chunk chunk, int row) {
        int free = find(key, chunk, row);
        if (!isOccupied(free)) {
            return false;
        }
        countRepeated(free, key, -1);
        dropVariableWidth(free);
        for (int slot = next(free); isOccupied(slot); slot = next(slot)) {
            int home = home(layout.key(address(slot)));
            if (distance(home, slot) >= distance(free, slot)) {
                layout.copyRow(address(slot), address(free));
                free = slot;
            }
        }
        PresenceBits.clear(base, free);
        rowCount--;
        return true;
    }

    private void write(Chunk chunk, int row, long target, long variableWidthRow) {
        int keyWidth = layout.keyColumnBytes();
        copyColumn(chunk, layout.keyColumn(), keyWidth, layout.keyBytes(), row, target);
        for (int i = 0; i < layout.payloadCount(); i++) {
            int width = layout.payloadWidth(i);
            long field = target + layout.payloadOffset(i);
            copyColumn(chunk, layout.payloadColumn(i), width, width, row, field);
        }
        if (layout.variableWidthOffset() >= 0) {
            Memory.putLong(target + layout.variableWidthOffset(), variableWidthRow);
        }
    }

    /**
     * @param widthBytes of the column
     * @param fieldBytes of its field in a row, which differ for keys of 1 and 2 bytes only
     */
    private static void copyColumn(
            Chunk chunk, int column, int widthBytes, int fieldBytes, int row, long target) {
        long source = chunk.columnStart(column) + (long) widthBytes * row;
        if (widthBytes == Long.BYTES) {
            Memory.putLong(target, Memory.getLong(chunk.array(), source));
        } else if (widthBytes == Integer.BYTES) {
            Memory.putInt(target, Memory.getInt(chunk.array(), source));
        } else {
            long value = Memory.getInteger(chunk.array(), source, widthBytes);
            Memory.putInteger(null, target, fieldBytes, value);
        }
    }

    // ------------------------------------------------------------------ variable-width bytes

    private long copyVariableWidth(Chunk chunk, int row) {
        long start = chunk.variableWidthStart(row);
        int length = (int) (chunk.variableWidthEnd(row) - start);
        long address = variableWidth.allocate(4L + length);
        Memory.putInt(address, length);
        Memory.copy(chunk.array(), start, null, address + 4, length);
        liveVariableWidthBytes += 4L + length;
        return address;
    }

    private long variableWidthRow(int slot) {
        return Memory.getLong(address(slot) + layout.variableWidthOffset());
    }

    private static long variableWidthBytes(long variableWidthRow) {
        return 4L + Memory.getInt(variableWidthRow);
    }

    private void dropVariableWidth(int slot) {
        if (layout.variableWidthOffset() >= 0) {
            long bytes = variableWidthBytes(variableWidthRow(slot));
            liveVariableWidthBytes -= bytes;
            deadVariableWidthBytes += bytes;
        }
    }

    private static long copyVariableWidth(long from, PagedMemory target) {
        long to = target.allocate(variableWidthBytes(from));
        Memory.copy(null, from, null, to, variableWidthBytes(from));
        return to;
    }

    /** Frees dead variable-width bytes and moves the live ones. */
    void compact() {
        PagedMemory live = new PagedMemory(allocator);
        try {
            for (int slot = 0; slot < slots; slot++) {
                if (isOccupied(slot)) {
                    Memory.putLong(
                            address(slot) + layout.variableWidthOffset(),
                            copyVariableWidth(variableWidthRow(slot), live));
                }
            }
        } catch (Throwable e) {
            live.close();
            throw e;
        }
        variableWidth.close();
        variableWidth = live;
        deadVariableWidthBytes = 0;
    }

    // ------------------------------------------------------------------ growth

    /** Returns a copy with twice the slots. */
    ChangingSegment grown() {
        ChangingSegment grown = new ChangingSegment(layout, allocator, depth, 2 * slots);
        try {
            copyRows(grown, grown);
        } catch (Throwable e) {
            grown.close();
            throw e;
        }
        return grown;
    }

    /** Returns two copies that share one more bit of the hash: first 0, then 1. */
    ChangingSegment[] split() {
        ChangingSegment zero = new ChangingSegment(layout, allocator, depth + 1, slots);
        try {
            ChangingSegment one = new ChangingSegment(layout, allocator, depth + 1, slots);
            try {
                copyRows(zero, one);
            } catch (Throwable e) {
                one.close();
                throw e;
            }
            return new ChangingSegment[] {zero, one};
        } catch (Throwable e) {
            zero.close();
            throw e;
        }
    }

    private void copyRows(ChangingSegment zero, ChangingSegment one) {
        for (int slot = 0; slot < slots; slot++) {
            if (isOccupied(slot)) {
                long hash = SlotHash.hash(layout.key(address(slot)));
                boolean isOne = (hash << depth) < 0;
                (isOne ? one : zero).add(address(slot), home(hash, zero.slots));
            }
        }
    }

    /** Copies a row whose key is not in this segment. */
    private void add(long row, int home) {
        int slot = home;
        while (isOccupied(slot)) {
            slot = next(slot);
        }
        countRepeated(slot, layout.key(row), 1);
        PresenceBits.set(base, slot);
        layout.copyRow(row, address(slot));
        if (layout.variableWidthOffset() >= 0) {
            long to = copyVariableWidth(variableWidthRow(slot), variableWidth);
            liveVariableWidthBytes += variableWidthBytes(to);
            Memory.putLong(address(slot) + layout.variableWidthOffset(), to);
        }
        rowCount++;
    }

    @Override
    public void close() {
        region.close();
        variableWidth.close();
    }
}
