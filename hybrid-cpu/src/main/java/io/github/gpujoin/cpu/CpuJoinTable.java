package io.github.gpujoin.cpu;

import io.github.gpujoin.core.layout.KeyHash;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Hash table of one dimension: all rows in one array, sorted by hash slot, and a directory that
 * says where each slot starts. Immutable, so threads share it; counted, so the last owner frees it.
 *
 * <p>After Birler, Schmidt, Fent, Neumann: "Simple, Efficient, and Robust Hash Tables for Join
 * Processing" (DaMoN 2024), section 4, "unchained" tables. Rows of a key stand side by side in
 * build order, a miss is nearly always decided by the directory alone, and hash order is memory
 * order in both arrays.
 *
 * <pre>
 *  directory, slots + 1 entries of 8 bytes:
 *   63                                  16 15               0
 *  +--------------------------------------+------------------+
 *  | byte offset of the slot's first row  | tags: bit t set  |
 *  | (= end of the slot before it)        | if a key has it  |
 *  +--------------------------------------+------------------+
 *  rows, in {@link RowLayout}: slot 0's rows, slot 1's rows, ..., a copy of the last row
 * </pre>
 *
 * <p>The copy at the end lets a probe look at two rows without asking whether there are two: a key
 * that does not equal the last row does not equal its copy.
 */
final class CpuJoinTable implements AutoCloseable {

    /** Bits of a directory entry below the offset. */
    static final int OFFSET_SHIFT = 16;

    private final RowLayout layout;
    private final long rowCount;
    private final int slots;
    private final boolean unique;
    private final Region rows;
    private final Region directory;
    private final PagedMemory carried;
    private final long rowsAddress;
    private final long directoryAddress;
    private final long rowsEnd;
    private final AtomicInteger owners = new AtomicInteger(1);

    /**
     * Takes over the memory.
     *
     * @param unique whether no key stands twice
     */
    CpuJoinTable(
            RowLayout layout,
            long rowCount,
            int slots,
            boolean unique,
            Region rows,
            Region directory,
            PagedMemory carried) {
        this.layout = layout;
        this.rowCount = rowCount;
        this.slots = slots;
        this.unique = unique;
        this.rows = rows;
        this.directory = directory;
        this.carried = carried;
        this.rowsAddress = rows.address();
        this.directoryAddress = directory.address();
        this.rowsEnd = rowsAddress + rowCount * layout.rowBytes();
    }

    /** Bit of a directory entry that keys of this hash set. */
    static int tag(long hash) {
        return (int) (hash >>> 32) & 15;
    }

    RowLayout layout() {
        return layout;
    }

    long rowCount() {
        return rowCount;
    }

    /** Whether no key stands twice. */
    boolean isUnique() {
        return unique;
    }

    /** Bytes of rows, directory and carried values. */
    long lengthBytes() {
        return rows.lengthBytes() + directory.lengthBytes() + carried.lengthBytes();
    }

    /**
     * Finds the first row of each key, without branches that depend on data but for the rare third
     * row of a slot.
     *
     * @param keys address of {@code int64[count]}
     * @param origins address of room for {@code int32[count]}: indexes of the keys that were found,
     *     ascending
     * @param matches address of room for {@code int64[count]}: addresses of their rows
     * @return number of keys found
     */
    int findFirst(long keys, int count, long origins, long matches) {
        int candidates = findCandidates(keys, count, origins, matches);
        return layout.keyBytes() == Long.BYTES
                ? matchLongs(keys, candidates, origins, matches)
                : matchInts(keys, candidates, origins, matches);
    }

    /** Keys whose tag is set, with the first row of their slot. */
    private int findCandidates(long keys, int count, long origins, long firstRows) {
        long rows = rowsAddress;
        long entries = directoryAddress;
        int slots = this.slots;
        int found = 0;
        for (int i = 0; i < count; i++) {
            long hash = KeyHash.hash(Memory.getLong(keys + 8L * i));
            long entry = Memory.getLong(entries + 8L * KeyHash.slot(hash, slots));
            Memory.putInt(origins + 4L * found, i);
            Memory.putLong(firstRows + 8L * found, rows + (entry >>> OFFSET_SHIFT));
            found += (int) (entry >>> tag(hash)) & 1;
        }
        return found;
    }

    /** Narrows candidates to matches, in place. */
    private int matchLongs(long keys, int candidates, long origins, long matches) {
        int rowBytes = layout.rowBytes();
        int found = 0;
        for (int i = 0; i < candidates; i++) {
            int origin = Memory.getInt(origins + 4L * i);
            long row = Memory.getLong(matches + 8L * i);
            long key = Memory.getLong(keys + 8L * origin);
            row += rowBytes & differ(Memory.getLong(row), key);
            if (Memory.getLong(row) != key) {
                row = findInSlot(key);
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

    /** As {@link #matchLongs}, for tables of 4-byte keys. */
    private int matchInts(long keys, int candidates, long origins, long matches) {
        int rowBytes = layout.rowBytes();
        int found = 0;
        for (int i = 0; i < candidates; i++) {
            int origin = Memory.getInt(origins + 4L * i);
            long row = Memory.getLong(matches + 8L * i);
            long key = Memory.getLong(keys + 8L * origin);
            row += rowBytes & differ(Memory.getInt(row), key);
            if (Memory.getInt(row) != key) {
                row = findInSlot(key);
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

    /** First row of the key, 0 where there is none. */
    private long findInSlot(long key) {
        long entry = directoryAddress + 8L * KeyHash.slot(KeyHash.hash(key), slots);
        long row = rowsAddress + (Memory.getLong(entry) >>> OFFSET_SHIFT);
        long end = rowsAddress + (Memory.getLong(entry + 8) >>> OFFSET_SHIFT);
        for (; row < end; row += layout.rowBytes()) {
            if (layout.key(row) == key) {
                return row;
            }
        }
        return 0;
    }

    /** The next row of the same key as a row's, 0 where there is none. */
    long nextMatch(long row) {
        long next = row + layout.rowBytes();
        return next < rowsEnd && layout.key(next) == layout.key(row) ? next : 0;
    }

    /** Adds an owner, who closes the table too. */
    CpuJoinTable retain() {
        int before = owners.getAndUpdate(n -> n == 0 ? 0 : n + 1);
        if (before == 0) {
            throw new IllegalStateException("a table that was freed has no owner: owners=0");
        }
        return this;
    }

    /** Ends one ownership; the last one frees the memory. */
    @Override
    public void close() {
        if (owners.decrementAndGet() == 0) {
            rows.close();
            directory.close();
            carried.close();
        }
    }
}
