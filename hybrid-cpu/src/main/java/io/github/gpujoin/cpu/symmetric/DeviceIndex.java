// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.symmetric;

import io.github.gpujoin.core.symmetric.MatchIndex;
import java.util.Arrays;
import java.util.function.IntPredicate;

/**
 * Chains on a device. Changes of the tables are collected until {@link #flush}, so that a chunk
 * changes the device in one batch, and a device never fails amid the results of a row.
 */
final class DeviceIndex implements RowIndex {

    private final MatchIndex device;
    private final Changes[] changes;

    /**
     * @param device index, which {@link #close} closes
     */
    DeviceIndex(MatchIndex device, int inputs) {
        this.device = device;
        this.changes = new Changes[inputs];
    }

    MatchIndex device() {
        return device;
    }

    @Override
    public boolean isOnHost() {
        return false;
    }

    @Override
    public KeyChains chains(int input, RowLinks links, boolean isRemovable) {
        changes[input] = new Changes(device, input);
        return changes[input];
    }

    /** Sends the collected changes to the device. */
    void flush() {
        for (Changes each : changes) {
            each.flush();
        }
    }

    @Override
    public long deviceBytes() {
        return device.memoryBytes();
    }

    @Override
    public void close() {
        device.close();
    }

    /** Rows under their keys. */
    private static final class Rows {

        private long[] keys = new long[64];
        private int[] ids = new int[64];
        private int count;

        void add(long key, int id) {
            if (count == ids.length) {
                keys = Arrays.copyOf(keys, 2 * count);
                ids = Arrays.copyOf(ids, 2 * count);
            }
            keys[count] = key;
            ids[count] = id + 1;
            count++;
        }
    }

    /** The changes of one input since the last flush. */
    private static final class Changes implements KeyChains {

        private final MatchIndex device;
        private final int input;
        private final Rows removed = new Rows();
        private final Rows added = new Rows();

        /** Whether a row was added since the last flush and not removed again, a bit for each. */
        private long[] isAdded = new long[1];

        Changes(MatchIndex device, int input) {
            this.device = device;
            this.input = input;
        }

        @Override
        public void reserve(int lastId) {
            device.reserve(input, lastId);
            int words = (lastId >> 6) + 1;
            if (words > isAdded.length) {
                isAdded = Arrays.copyOf(isAdded, Math.max(words, 2 * isAdded.length));
            }
        }

        @Override
        public void makeRoom(int hash) {
            // The device makes room for the rows of a chunk when it is flushed.
        }

        @Override
        public boolean isOnHost() {
            return false;
        }

        @Override
        public int find(long key, int hash, IntPredicate isSame) {
            throw new UnsupportedOperationException("Chains on a device cannot be searched.");
        }

        @Override
        public void add(long key, int hash, int id) {
            added.add(key, id);
            isAdded[id >> 6] |= 1L << id;
        }

        @Override
        public void remove(long key, int hash, int id) {
            if ((isAdded[id >> 6] >>> id & 1) != 0) {
                isAdded[id >> 6] &= ~(1L << id);
            } else {
                removed.add(key, id);
            }
        }

        @Override
        public void replace(long key, int hash, int old, int id) {
            remove(key, hash, old);
            add(key, hash, id);
        }

        @Override
        public void move(long key, int hash, int from, int to) {
            replace(key, hash, from, to);
        }

        /** Removes rows first: the id of a removed row may be that of an added one. */
        private void flush() {
            if (removed.count > 0) {
                device.remove(input, removed.keys, removed.ids, removed.count);
                removed.count = 0;
            }
            dropRemovedAgain();
            if (added.count > 0) {
                device.add(input, added.keys, added.ids, added.count);
                added.count = 0;
            }
        }

        /** Keeps the last addition of each id, unless the row was removed again. */
        private void dropRemovedAgain() {
            int kept = added.count;
            for (int i = added.count - 1; i >= 0; i--) {
                int id = added.ids[i] - 1;
                if ((isAdded[id >> 6] >>> id & 1) != 0) {
                    isAdded[id >> 6] &= ~(1L << id);
                    kept--;
                    added.ids[kept] = id + 1;
                    added.keys[kept] = added.keys[i];
                }
            }
            added.count -= kept;
            System.arraycopy(added.ids, kept, added.ids, 0, added.count);
            System.arraycopy(added.keys, kept, added.keys, 0, added.count);
        }

        /** Does nothing: the device is closed with the index. */
        @Override
        public void close() {}
    }
}
