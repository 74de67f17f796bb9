// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import org.apache.flink.api.common.state.KeyedStateStore;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.jspecify.annotations.Nullable;

/**
 * Byte arrays under the current key, in managed keyed state, by position. Positions ascend in the
 * order of arrival. The caller sets the current key.
 */
final class KeyedChunks {

    private final String name;
    private final MapState<Long, byte[]> entries;
    private final ValueState<Long> tail;

    KeyedChunks(KeyedStateStore store, String name) {
        this.name = name;
        this.entries =
                store.getMapState(
                        new MapStateDescriptor<>(
                                name,
                                LongSerializer.INSTANCE,
                                BytePrimitiveArraySerializer.INSTANCE));
        this.tail =
                store.getState(new ValueStateDescriptor<>(name + "-tail", LongSerializer.INSTANCE));
    }

    /** Returns the name of the state. */
    String name() {
        return name;
    }

    /** Returns the entry's position. */
    long add(byte[] entry) throws Exception {
        long position = end();
        put(position, entry);
        tail.update(position + 1);
        return position;
    }

    /** Replaces the entry at the position. */
    void put(long position, byte[] entry) throws Exception {
        try {
            entries.put(position, entry);
        } catch (Exception e) {
            throw new IOException(
                    "The state backend failed to store a chunk: state=%s, bytes=%d. Check its disk space."
                            .formatted(name, entry.length),
                    e);
        }
    }

    /** Whether the log has an entry at the position. */
    boolean has(long position) throws Exception {
        return entries.contains(position);
    }

    byte[] get(long position) throws Exception {
        byte[] entry = entries.get(position);
        if (entry == null) {
            throw new NoSuchElementException(
                    "The chunk log lacks an entry: state="
                            + name
                            + ", position="
                            + position
                            + ", tail="
                            + end());
        }
        return entry;
    }

    void remove(long position) throws Exception {
        entries.remove(position);
    }

    /** Positions of all entries, in no order. */
    Iterable<Long> positions() throws Exception {
        return entries.keys();
    }

    /** Changes entries of the current key. */
    @FunctionalInterface
    interface EntryChange {

        /** Returns the replacement, or null to remove the entry. */
        byte @Nullable [] apply(byte[] entry) throws Exception;
    }

    /** Replaces or removes each entry. */
    void replaceAll(EntryChange change) throws Exception {
        List<Long> all = new ArrayList<>();
        positions().forEach(all::add);
        for (long position : all) {
            byte[] changed = change.apply(get(position));
            if (changed == null) {
                remove(position);
            } else {
                put(position, changed);
            }
        }
    }

    /** Removes all entries from a position on. */
    void truncate(long end) throws Exception {
        long before = end();
        for (long position = end; position < before; position++) {
            entries.remove(position);
        }
        if (end < before) {
            tail.update(end);
        }
    }

    /** The next entry's position. */
    long end() throws Exception {
        Long value = tail.value();
        return value == null ? 0 : value;
    }

    void clear() {
        entries.clear();
        tail.clear();
    }
}
