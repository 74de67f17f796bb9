// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The rows of the heavy hitters of one input, on the heap: a device walks a chain in sequence, an
 * estimated 0.6 us a row. A key becomes heavy when it is looked up and has more than {@value
 * #HEAVY_ROWS} rows. The device has its rows too, so that a key may become light again.
 *
 * <p>Removed rows stay in a list until it is read, which costs as much as its results, or until
 * they are half of it. So the lists of keys that nobody looks up again do not grow with their
 * changes, and are dropped with their rows.
 */
final class HeavyKeys {

    /** A chain is walked in an estimated 0.3 ms, about the time in which a chunk is joined. */
    static final int HEAVY_ROWS = 512;

    /** A key with fewer rows is light again. */
    private static final int LIGHT_ROWS = HEAVY_ROWS / 4;

    /** Reserves memory, or releases it if negative. */
    private final LongConsumer reserve;

    private final Map<Long, Rows> keys = new HashMap<>();
    private long memoryBytes;

    /**
     * @param reserve reserves bytes of the heap, and releases them if negative
     */
    HeavyKeys(LongConsumer reserve) {
        this.reserve = reserve;
    }

    private void reserve(long bytes) {
        reserve.accept(bytes);
        memoryBytes += bytes;
    }

    /** The rows of a key. */
    final class Rows {

        private int[] ids;
        private int count;

        /** Of each removal: the id, and the length of the list then, in 32 bits each. */
        private long[] removals = {};

        private int removalCount;

        private Rows(int[] ids) {
            this.ids = ids;
            this.count = ids.length;
        }

        private void add(int id) {
            if (count == ids.length) {
                reserve((long) Integer.BYTES * count);
                ids = Arrays.copyOf(ids, 2 * count);
            }
            ids[count++] = id;
        }

        private void remove(int id) {
            if (removalCount == removals.length) {
                reserve((long) Long.BYTES * Math.max(16, removalCount));
                removals = Arrays.copyOf(removals, removalCount + Math.max(16, removalCount));
            }
            removals[removalCount++] = (long) id << Integer.SIZE | count;
            if (removalCount > count / 2) {
                dropRemoved();
            }
        }

        private void dropRemoved() {
            if (removalCount == 0) {
                return;
            }
            Arrays.sort(removals, 0, removalCount);
            int kept = 0;
            for (int i = 0; i < count; i++) {
                if (!isRemoved(ids[i], i)) {
                    ids[kept++] = ids[i];
                }
            }
            count = kept;
            removalCount = 0;
        }

        /** Whether a row was removed after it was added, by its last removal. */
        private boolean isRemoved(int id, int at) {
            long last = (long) id << Integer.SIZE | Integer.MAX_VALUE;
            int behind = -1 - Arrays.binarySearch(removals, 0, removalCount, last);
            return behind > 0
                    && removals[behind - 1] >> Integer.SIZE == id
                    && (int) removals[behind - 1] > at;
        }

        private long memoryBytes() {
            return (long) Integer.BYTES * ids.length + (long) Long.BYTES * removals.length;
        }

        int count() {
            return count;
        }

        int id(int number) {
            return ids[number];
        }
    }

    boolean isEmpty() {
        return keys.isEmpty();
    }

    /** Returns the rows of a key as of now, or null if the key is not heavy. */
    @Nullable Rows of(long key) {
        Rows rows = keys.isEmpty() ? null : keys.get(key);
        if (rows != null) {
            rows.dropRemoved();
            if (rows.count < LIGHT_ROWS) {
                drop(key, rows);
                return null;
            }
        }
        return rows;
    }

    private void drop(long key, Rows rows) {
        reserve(-rows.memoryBytes());
        keys.remove(key);
    }

    /** Makes a key heavy, and returns its rows. */
    Rows put(long key, int[] ids) {
        Rows rows = new Rows(ids);
        reserve(rows.memoryBytes());
        keys.put(key, rows);
        return rows;
    }

    /** Adds those of some rows, with links of id + 1, whose keys are heavy. */
    void add(long[] added, int[] links, int count) {
        for (int i = 0; i < count && !keys.isEmpty(); i++) {
            Rows rows = links[i] == 0 ? null : keys.get(added[i]);
            if (rows != null) {
                rows.add(links[i] - 1);
            }
        }
    }

    /** Removes those of some rows whose keys are heavy. */
    void remove(long[] removed, int[] links, int count) {
        for (int i = 0; i < count && !keys.isEmpty(); i++) {
            Rows rows = links[i] == 0 ? null : keys.get(removed[i]);
            if (rows != null) {
                rows.remove(links[i] - 1);
                if (rows.count < LIGHT_ROWS) {
                    drop(removed[i], rows);
                }
            }
        }
    }

    long memoryBytes() {
        return memoryBytes;
    }

    /** Releases all memory. */
    void clear() {
        keys.clear();
        reserve(-memoryBytes);
    }
}
