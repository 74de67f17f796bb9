package io.github.gpujoin.cpu;

import io.github.gpujoin.core.region.Memory;

/**
 * Finds the first row of many keys at once: one short loop for each step over the whole batch, so
 * that the cache misses of a step overlap. Holds the scratch memory between the steps; one for each
 * thread.
 */
final class KeyLookup {

    private final CpuJoinTable table;
    private final long slots;
    private final long scratch;

    /**
     * @param maxKeys the most keys looked up at once
     * @param memory outlives this object
     */
    KeyLookup(CpuJoinTable table, int maxKeys, PagedMemory memory) {
        this.table = table;
        this.slots = memory.take(4L * maxKeys);
        this.scratch = memory.take(8L * maxKeys);
    }

    /**
     * @param keys address of {@code int64[count]}
     * @param origins address of room for {@code int32[count]}: indexes of the keys that were found,
     *     ascending
     * @param matches address of room for {@code int64[count]}: addresses of their first rows
     * @return number of keys found
     */
    int findFirst(long keys, int count, long origins, long matches) {
        table.slotFunction().slots(keys, count, slots);
        int taken = table.findRows(slots, count, scratch, origins, matches);
        if (table.slotFunction().isDirect()) {
            return taken;
        }
        loadRowKeys(matches, taken);
        return table.layout().keyBytes() == Long.BYTES
                ? keepEqualLongs(keys, taken, origins, matches)
                : keepEqualInts(keys, taken, origins, matches);
    }

    /** Keys of the rows at {@code matches}, widened to 64 bits. */
    private void loadRowKeys(long matches, int count) {
        long rowKeys = scratch;
        if (table.layout().keyBytes() == Long.BYTES) {
            for (int i = 0; i < count; i++) {
                Memory.putLong(rowKeys + 8L * i, Memory.getLong(Memory.getLong(matches + 8L * i)));
            }
        } else {
            for (int i = 0; i < count; i++) {
                Memory.putLong(rowKeys + 8L * i, Memory.getInt(Memory.getLong(matches + 8L * i)));
            }
        }
    }

    /**
     * Keeps, in place, the keys that a row holds: nearly always the row found, sometimes the next
     * one, which is looked at without a branch; rarely one further on.
     */
    private int keepEqualLongs(long keys, int count, long origins, long matches) {
        long rowKeys = scratch;
        long rowBytes = table.layout().rowBytes();
        int found = 0;
        for (int i = 0; i < count; i++) {
            int origin = Memory.getInt(origins + 4L * i);
            long key = Memory.getLong(keys + 8L * origin);
            long row = Memory.getLong(matches + 8L * i);
            row += rowBytes & differ(Memory.getLong(rowKeys + 8L * i), key);
            if (Memory.getLong(row) != key) {
                row = table.findDisplaced(key);
                if (row == 0) {
                    continue;
                }
            }
            Memory.putInt(origins + 4L * found, origin);
            Memory.putLong(matches + 8L * found, row);
            found++;
        }
        return found;
    }

    /** As {@link #keepEqualLongs}, for rows with 4-byte keys. */
    private int keepEqualInts(long keys, int count, long origins, long matches) {
        long rowKeys = scratch;
        long rowBytes = table.layout().rowBytes();
        int found = 0;
        for (int i = 0; i < count; i++) {
            int origin = Memory.getInt(origins + 4L * i);
            long key = Memory.getLong(keys + 8L * origin);
            long row = Memory.getLong(matches + 8L * i);
            row += rowBytes & differ(Memory.getLong(rowKeys + 8L * i), key);
            if (Memory.getInt(row) != key) {
                row = table.findDisplaced(key);
                if (row == 0) {
                    continue;
                }
            }
            Memory.putInt(origins + 4L * found, origin);
            Memory.putLong(matches + 8L * found, row);
            found++;
        }
        return found;
    }

    /** All ones where the keys differ, else zero. */
    private static long differ(long a, long b) {
        long bits = a ^ b;
        return (bits | -bits) >> 63;
    }
}
