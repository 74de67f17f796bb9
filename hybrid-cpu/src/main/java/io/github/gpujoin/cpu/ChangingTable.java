// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.RowChange;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.SlotHash;
import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.PagedMemory;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The table of a changelog dimension with unique keys: an extendible hash table (Fagin, Nievergelt,
 * Pippenger, Strong: "Extendible Hashing", ACM TODS 4, 1979). Unlike other tables it is mutable:
 * one engine owns it and changes it between two batches.
 *
 * <pre>
 *  upper bits of the hash:   00  01  10  11
 *  directory:                 |   |   |   |
 *                             v   v   +-+-+
 *  segments, by lower bits:   A   B     C          C shares one bit, A and B share two
 * </pre>
 *
 * <p>Keys whose hashes are equal have a slot each in one probe sequence, and a look-up finds all of
 * them.
 *
 * <p>The table never moves as a whole: a segment of {@value #SEGMENT_SLOTS} slots splits when half
 * of them are occupied. Neither do many segments at once: a chunk may move {@value #MOVES_PER_ROW}
 * rows for each of its own and one segment more, unless a segment is three quarters full. So the
 * time of {@link #apply} depends on the chunk, not on the table.
 */
final class ChangingTable extends CpuJoinTable {

    /** Small enough for a segment to stay in the second-level cache while its rows move. */
    static final int SEGMENT_SLOTS = 1 << 14;

    private static final int MIN_SLOTS = 64;
    private static final int MAX_ROWS = 1 << 29;
    private static final int MAX_DEPTH = 20;
    private static final int MOVES_PER_ROW = 8;

    private final DimensionSpec dimension;
    private final Allocator allocator;

    /** Number of upper hash bits that index the directory. */
    private int depth;

    private ChangingSegment[] directory;

    /** {@link ChangingSegment#base} of each directory entry. */
    private long[] bases;

    private int rowCount;
    private int repeatedHashCount;
    private volatile long lengthBytes;
    private long movedRows;

    /**
     * Increases whenever an address of variable-width bytes may refer to other bytes than before.
     */
    private int variableWidthGeneration;

    ChangingTable(DimensionSpec dimension, Allocator allocator) {
        super(new RowLayout(dimension));
        this.dimension = dimension;
        this.allocator = allocator;
        ChangingSegment first = new ChangingSegment(layout(), allocator, 0, MIN_SLOTS);
        this.directory = new ChangingSegment[] {first};
        this.bases = new long[] {first.base()};
        this.lengthBytes = first.lengthBytes();
    }

    int rowCount() {
        return rowCount;
    }

    int variableWidthGeneration() {
        return variableWidthGeneration;
    }

    /** Returns the rows that the last {@link #apply} moved, besides those of its chunk. */
    long movedRows() {
        return movedRows;
    }

    // ------------------------------------------------------------------ changes

    /** Applies the rows of a chunk in order. */
    void apply(Chunk chunk) {
        movedRows = 0;
        for (int row = 0; row < chunk.rowCount(); row++) {
            long key = chunk.getLong(layout().keyColumn(), row);
            RowChange change = RowChange.of(chunk.getInt(dimension.changeColumn(), row));
            switch (change) {
                case UPSERT -> upsert(key, chunk, row);
                case DELETE -> delete(key, chunk, row);
            }
        }
    }

    private void upsert(long key, Chunk chunk, int row) {
        long hash = SlotHash.hash(key);
        ChangingSegment segment = segment(hash);
        if (segment.isFull()
                && (segment.isCrowded() || mayMove(row))
                && !segment.contains(key, chunk, row)) {
            makeRoom(segment, hash);
            segment = segment(hash);
        }
        int rowsBefore = segment.rowCount();
        int repeatedBefore = segment.repeatedHashCount();
        long bytesBefore = segment.lengthBytes();
        segment.upsert(key, chunk, row);
        rowCount += segment.rowCount() - rowsBefore;
        repeatedHashCount += segment.repeatedHashCount() - repeatedBefore;
        count(segment.lengthBytes() - bytesBefore);
        compactIfDead(segment, row);
    }

    private void delete(long key, Chunk chunk, int row) {
        ChangingSegment segment = segment(SlotHash.hash(key));
        int repeatedBefore = segment.repeatedHashCount();
        if (segment.delete(key, chunk, row)) {
            rowCount--;
            repeatedHashCount += segment.repeatedHashCount() - repeatedBefore;
            compactIfDead(segment, row);
        }
    }

    /** Returns whether so many rows of a chunk allow further moves. */
    private boolean mayMove(int rows) {
        return movedRows <= (long) MOVES_PER_ROW * rows;
    }

    private void compactIfDead(ChangingSegment segment, int row) {
        if (segment.isMostlyDead() && mayMove(row)) {
            long bytesBefore = segment.lengthBytes();
            segment.compact();
            moved(segment, segment.lengthBytes() - bytesBefore);
        }
    }

    /** Counts the moved rows of a segment. */
    private void moved(ChangingSegment segment, long addedBytes) {
        count(addedBytes);
        movedRows += segment.rowCount();
        variableWidthGeneration++;
    }

    private void count(long addedBytes) {
        if (addedBytes != 0) {
            lengthBytes += addedBytes;
        }
    }

    // ------------------------------------------------------------------ directory

    private ChangingSegment segment(long hash) {
        return directory[entry(hash, depth)];
    }

    private static int entry(long hash, int depth) {
        return (int) (hash >>> Integer.SIZE >>> Integer.SIZE - depth);
    }

    private void makeRoom(ChangingSegment segment, long hash) {
        if (rowCount >= MAX_ROWS || segment.depth() == MAX_DEPTH) {
            throw new IllegalStateException(
                    "Too many rows in a subtask: dimension=%s, rows=%d, rowsWithHashOfAnother=%d. Raise the parallelism."
                            .formatted(dimension.name(), rowCount, repeatedHashCount));
        }
        if (segment.slots() < SEGMENT_SLOTS) {
            ChangingSegment grown = segment.grown();
            enter(grown, 0, 1);
            moved(segment, grown.lengthBytes() - segment.lengthBytes());
        } else {
            ChangingSegment[] halves = segment.split();
            if (segment.depth() == depth) {
                doubleDirectory();
            }
            int entries = 1 << depth - segment.depth();
            int first = entry(hash, depth) & -entries;
            enter(halves[0], first, first + entries / 2);
            enter(halves[1], first + entries / 2, first + entries);
            moved(
                    segment,
                    halves[0].lengthBytes() + halves[1].lengthBytes() - segment.lengthBytes());
        }
        segment.close();
    }

    private void enter(ChangingSegment segment, int from, int to) {
        Arrays.fill(directory, from, to, segment);
        Arrays.fill(bases, from, to, segment.base());
    }

    private void doubleDirectory() {
        ChangingSegment[] segments = new ChangingSegment[2 * directory.length];
        long[] addresses = new long[segments.length];
        for (int i = 0; i < segments.length; i++) {
            segments[i] = directory[i / 2];
            addresses[i] = bases[i / 2];
        }
        directory = segments;
        bases = addresses;
        depth++;
    }

    // ------------------------------------------------------------------ look-ups

    /** {@inheritDoc} Holds for hashed keys until two of them have one hash. */
    @Override
    boolean isUnique() {
        return repeatedHashCount == 0;
    }

    @Override
    boolean hasRowLookup() {
        return false;
    }

    @Override
    KeyLookup rowLookup() {
        throw new UnsupportedOperationException("A changing table has no row lookup");
    }

    @Override
    KeyLookup addressLookup(int maxKeys, PagedMemory memory) {
        long homes = memory.allocate(12L * maxKeys);
        return (base, keys, count, firstNumber, numbers, matches) -> {
            writeHomes(base, keys, count, homes);
            return findFirst(base, keys, count, homes, firstNumber, numbers, matches);
        };
    }

    /**
     * Hashes all keys first, so that the cache misses of {@link #findFirst} overlap.
     *
     * @param homes room for {@code int64[count]}, bases of segments, and {@code int32[count]},
     *     slots
     */
    private void writeHomes(byte @Nullable [] base, long keys, int count, long homes) {
        long[] bases = this.bases;
        int depth = this.depth;
        int slots = directory[0].slots();
        long homeSlots = homes + 8L * count;
        for (int i = 0; i < count; i++) {
            long hash = SlotHash.hash(Memory.getLong(base, keys + 8L * i));
            Memory.putLong(homes + 8L * i, bases[entry(hash, depth)]);
            Memory.putInt(homeSlots + 4L * i, ChangingSegment.home(hash, slots));
        }
    }

    private int findFirst(
            byte @Nullable [] base,
            long keys,
            int count,
            long homes,
            int firstNumber,
            long numbers,
            long matches) {
        int slots = directory[0].slots();
        int rowsOffset = ChangingSegment.rowsOffset(slots);
        int rowBytes = layout().rowBytes();
        long homeSlots = homes + 8L * count;
        int found = 0;
        for (int i = 0; i < count; i++) {
            long key = Memory.getLong(base, keys + 8L * i);
            long segment = Memory.getLong(homes + 8L * i);
            int slot = Memory.getInt(homeSlots + 4L * i);
            while (PresenceBits.get(segment, slot) != 0) {
                long row = segment + rowsOffset + (long) slot * rowBytes;
                if (layout().key(row) == key) {
                    Memory.putInt(numbers + 4L * found, firstNumber + i);
                    Memory.putLong(matches + 8L * found, row);
                    found++;
                    break;
                }
                slot = slot + 1 & slots - 1;
            }
        }
        return found;
    }

    @Override
    long nextMatch(long row) {
        return isUnique() ? 0 : segment(SlotHash.hash(layout().key(row))).nextMatch(row);
    }

    @Override
    long lengthBytes() {
        return lengthBytes;
    }

    @Override
    void free() {
        ChangingSegment last = null;
        for (ChangingSegment segment : directory) {
            if (segment != last) {
                segment.close();
            }
            last = segment;
        }
    }
}
