package io.github.gpujoin.cpu;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.RowChange;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.SlotHash;
import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.PagedMemory;
import io.github.gpujoin.core.region.Region;

/**
 * The rows of a dimension that changes, one a key, in an open-addressing table with linear probing.
 * Not immutable as other tables are: of one engine, which changes it between two batches.
 *
 * <pre>
 *  taken:    . 1 1 . 1 ...     a bit for each slot
 *  slots:    - A B - C ...     rows in {@link RowLayout}, each in the first slot from its hash on
 *                              that was free; at most half of the slots are taken
 *  carried:  a a b a c ...     int32 lengthBytes and the bytes; rows refer to it, appended only
 * </pre>
 *
 * <p>A row that goes leaves no mark: rows after it that would no longer be found move up (Knuth,
 * The Art of Computer Programming, volume 3, section 6.4, algorithm R). Carried bytes that no row
 * refers to any more are let go of when they are more than the others.
 */
final class ChangingTable extends CpuJoinTable {

    private static final int MIN_SLOTS = 64;
    private static final int MAX_SLOTS = 1 << 30;

    /** Carried bytes up to which it is not worth while to look for dead ones. */
    private static final long MIN_COMPACTION_BYTES = 1 << 20;

    private final DimensionSpec dimension;
    private final Allocator allocator;
    private final int rowBytes;
    private int slots = MIN_SLOTS;
    private Region rows;
    private PresenceBits taken;
    private PagedMemory carried;
    private int rowCount;
    private long deadCarriedBytes;
    private long liveCarriedBytes;

    /** Counts up whenever an address of carried bytes may stand for other bytes than before. */
    private int carriedGeneration;

    ChangingTable(DimensionSpec dimension, Allocator allocator) {
        super(new RowLayout(dimension));
        this.dimension = dimension;
        this.allocator = allocator;
        this.rowBytes = layout().rowBytes();
        this.carried = new PagedMemory(allocator);
        this.rows = allocator.allocate((long) slots * rowBytes);
        try {
            this.taken = PresenceBits.cleared(slots, allocator);
        } catch (Throwable e) {
            rows.close();
            throw e;
        }
    }

    int rowCount() {
        return rowCount;
    }

    int carriedGeneration() {
        return carriedGeneration;
    }

    // ------------------------------------------------------------------ changes

    /** Applies the rows of a chunk in order. */
    void apply(Chunk chunk) {
        for (int row = 0; row < chunk.rowCount(); row++) {
            long key = chunk.getLong(layout().keyColumn(), row);
            switch (RowChange.of(chunk.getInt(dimension.changeColumn(), row))) {
                case UPSERT -> upsert(key, chunk, row);
                case DELETE -> delete(key);
            }
        }
        if (deadCarriedBytes > Math.max(liveCarriedBytes, MIN_COMPACTION_BYTES)) {
            compactCarried();
        }
    }

    private void upsert(long key, Chunk chunk, int row) {
        long carriedRow = layout().carriedOffset() < 0 ? 0 : copyCarried(chunk, row);
        int slot = find(key);
        if (isTaken(slot)) {
            dropCarried(slot);
        } else {
            slot = growIfFull() ? find(key) : slot;
            PresenceBits.set(taken.address(), slot);
            rowCount++;
        }
        write(chunk, row, address(slot), carriedRow);
    }

    private void write(Chunk chunk, int row, long target, long carriedRow) {
        copyColumn(chunk, layout().keyColumn(), layout().keyBytes(), row, target);
        for (int i = 0; i < layout().payloadCount(); i++) {
            copyColumn(
                    chunk,
                    layout().payloadColumn(i),
                    layout().payloadWidth(i),
                    row,
                    target + layout().payloadOffset(i));
        }
        if (layout().carriedOffset() >= 0) {
            Memory.putLong(target + layout().carriedOffset(), carriedRow);
        }
    }

    private static void copyColumn(Chunk chunk, int column, int widthBytes, int row, long target) {
        long source = Memory.BYTES + chunk.columnOffset(column) + (long) widthBytes * row;
        if (widthBytes == Long.BYTES) {
            Memory.putLong(target, Memory.getLong(chunk.bytes(), source));
        } else {
            Memory.putInt(target, Memory.getInt(chunk.bytes(), source));
        }
    }

    private long copyCarried(Chunk chunk, int row) {
        int start = chunk.carriedStart(row);
        int length = chunk.carriedEnd(row) - start;
        long address = carried.take(4L + length);
        Memory.putInt(address, length);
        Memory.copy(chunk.bytes(), Memory.BYTES + start, null, address + 4, length);
        liveCarriedBytes += 4L + length;
        return address;
    }

    private void dropCarried(int slot) {
        if (layout().carriedOffset() >= 0) {
            long bytes = carriedBytes(carriedRow(slot));
            liveCarriedBytes -= bytes;
            deadCarriedBytes += bytes;
        }
    }

    private void delete(long key) {
        int free = find(key);
        if (!isTaken(free)) {
            return;
        }
        dropCarried(free);
        for (int slot = next(free); isTaken(slot); slot = next(slot)) {
            int home = home(layout().key(address(slot)));
            if (distance(home, slot) >= distance(free, slot)) {
                layout().copyRow(address(slot), address(free));
                free = slot;
            }
        }
        PresenceBits.clear(taken.address(), free);
        rowCount--;
    }

    // ------------------------------------------------------------------ slots

    private int home(long key) {
        return SlotHash.slot(SlotHash.hash(key), slots);
    }

    private int next(int slot) {
        return slot + 1 == slots ? 0 : slot + 1;
    }

    /** Slots from one to another, going up and around. */
    private int distance(int from, int to) {
        return to >= from ? to - from : to - from + slots;
    }

    private boolean isTaken(int slot) {
        return PresenceBits.get(taken.address(), slot) != 0;
    }

    private long address(int slot) {
        return rows.address() + (long) slot * rowBytes;
    }

    /** The key's slot, or the free one where it would go. */
    private int find(long key) {
        int slot = home(key);
        while (isTaken(slot) && layout().key(address(slot)) != key) {
            slot = next(slot);
        }
        return slot;
    }

    /** Makes room for one more row; whether rows moved. */
    private boolean growIfFull() {
        if (rowCount < slots / 2) {
            return false;
        }
        if (slots == MAX_SLOTS) {
            throw new IllegalStateException(
                    "a dimension that changes has up to 2^29 rows in a subtask: dimension="
                            + dimension.name()
                            + ", rows="
                            + rowCount);
        }
        int oldSlots = slots;
        Region moreRows = allocator.allocate(2L * oldSlots * rowBytes);
        PresenceBits moreTaken;
        try {
            moreTaken = PresenceBits.cleared(2 * oldSlots, allocator);
        } catch (Throwable e) {
            moreRows.close();
            throw e;
        }
        try (Region oldRows = rows;
                PresenceBits oldTaken = taken) {
            rows = moreRows;
            taken = moreTaken;
            slots = 2 * oldSlots;
            for (int slot = 0; slot < oldSlots; slot++) {
                if (PresenceBits.get(oldTaken.address(), slot) != 0) {
                    long row = oldRows.address() + (long) slot * rowBytes;
                    int to = find(layout().key(row));
                    PresenceBits.set(taken.address(), to);
                    layout().copyRow(row, address(to));
                }
            }
        }
        return true;
    }

    private long carriedRow(int slot) {
        return Memory.getLong(address(slot) + layout().carriedOffset());
    }

    private static long carriedBytes(long carriedRow) {
        return 4L + Memory.getInt(carriedRow);
    }

    private void compactCarried() {
        PagedMemory live = new PagedMemory(allocator);
        try {
            for (int slot = 0; slot < slots; slot++) {
                if (isTaken(slot)) {
                    long from = carriedRow(slot);
                    long to = live.take(carriedBytes(from));
                    Memory.copy(null, from, null, to, carriedBytes(from));
                    Memory.putLong(address(slot) + layout().carriedOffset(), to);
                }
            }
        } catch (Throwable e) {
            live.close();
            throw e;
        }
        carried.close();
        carried = live;
        deadCarriedBytes = 0;
        carriedGeneration++;
    }

    // ------------------------------------------------------------------ look-ups

    @Override
    boolean isUnique() {
        return true;
    }

    @Override
    boolean hasRowLookup() {
        return false;
    }

    @Override
    KeyLookup rowLookup() {
        throw new UnsupportedOperationException("a changing table gives addresses of rows only");
    }

    @Override
    KeyLookup addressLookup(int maxKeys, PagedMemory memory) {
        long homes = memory.take(4L * maxKeys);
        return (base, keys, count, firstNumber, numbers, matches) ->
                findFirst(base, keys, count, homes, firstNumber, numbers, matches);
    }

    /** Hashes all keys first, so that the cache misses of the second loop overlap. */
    private int findFirst(
            byte[] base,
            long keys,
            int count,
            long homes,
            int firstNumber,
            long numbers,
            long matches) {
        int slots = this.slots;
        for (int i = 0; i < count; i++) {
            long hash = SlotHash.hash(Memory.getLong(base, keys + 8L * i));
            Memory.putInt(homes + 4L * i, SlotHash.slot(hash, slots));
        }
        long taken = this.taken.address();
        long rows = this.rows.address();
        int found = 0;
        for (int i = 0; i < count; i++) {
            long key = Memory.getLong(base, keys + 8L * i);
            int slot = Memory.getInt(homes + 4L * i);
            while (PresenceBits.get(taken, slot) != 0) {
                long row = rows + (long) slot * rowBytes;
                if (layout().key(row) == key) {
                    Memory.putInt(numbers + 4L * found, firstNumber + i);
                    Memory.putLong(matches + 8L * found, row);
                    found++;
                    break;
                }
                slot = slot + 1 == slots ? 0 : slot + 1;
            }
        }
        return found;
    }

    @Override
    long nextMatch(long row) {
        return 0;
    }

    @Override
    long lengthBytes() {
        return rows.lengthBytes() + taken.lengthBytes() + carried.lengthBytes();
    }

    @Override
    void free() {
        rows.close();
        taken.close();
        carried.close();
    }
}
