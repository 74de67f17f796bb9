// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.eventtime;

import io.github.gpujoin.core.layout.SlotHash;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A map from keys without boxing: open addressing with linear probing, at most half full. */
final class LongKeyMap<V> {

    private static final int MIN_SLOTS = 64;

    private long[] keys = new long[MIN_SLOTS];
    private Object[] values = new Object[MIN_SLOTS];
    private int size;

    /** Returns the value of a key, or null. */
    @Nullable V get(long key) {
        return valueAt(find(key));
    }

    @SuppressWarnings("unchecked")
    private @Nullable V valueAt(int slot) {
        return (V) values[slot];
    }

    /** Returns the slot of the key, or the free slot in which it belongs. */
    private int find(long key) {
        int slot = home(key);
        while (values[slot] != null && keys[slot] != key) {
            slot = next(slot);
        }
        return slot;
    }

    private int home(long key) {
        return SlotHash.slot(SlotHash.hash(key), keys.length);
    }

    private int next(int slot) {
        return slot + 1 & keys.length - 1;
    }

    /** Sets the value of a key. */
    void put(long key, V value) {
        int slot = find(key);
        if (values[slot] == null) {
            size++;
            if (2 * size > keys.length) {
                resize(2 * keys.length);
                slot = find(key);
            }
        }
        keys[slot] = key;
        values[slot] = value;
    }

    private void resize(int slots) {
        long[] oldKeys = keys;
        Object[] oldValues = values;
        keys = new long[slots];
        values = new Object[slots];
        for (int i = 0; i < oldKeys.length; i++) {
            if (oldValues[i] != null) {
                int slot = find(oldKeys[i]);
                keys[slot] = oldKeys[i];
                values[slot] = oldValues[i];
            }
        }
    }

    /** Removes a key, and moves keys behind it into the free slot so that they are found. */
    void remove(long key) {
        int free = find(key);
        if (values[free] == null) {
            return;
        }
        size--;
        for (int slot = next(free); values[slot] != null; slot = next(slot)) {
            int distance = slot - home(keys[slot]) & keys.length - 1;
            if (distance >= (slot - free & keys.length - 1)) {
                keys[free] = keys[slot];
                values[free] = values[slot];
                free = slot;
            }
        }
        values[free] = null;
        if (size == 0 && keys.length > MIN_SLOTS) {
            keys = new long[MIN_SLOTS];
            values = new Object[MIN_SLOTS];
        }
    }

    void forEachValue(Consumer<V> consumer) {
        for (int slot = 0; slot < keys.length; slot++) {
            if (values[slot] != null) {
                consumer.accept(valueAt(slot));
            }
        }
    }
}
