// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import io.github.gpujoin.flink.record.SnapshotDamage;
import org.apache.flink.api.common.state.KeyedStateStore;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.runtime.execution.SuppressRestartsException;

/**
 * A queue of byte arrays under the current key, in managed keyed state.
 *
 * <p>A map holds entries under ascending positions, which start at 0 and may become negative; head
 * and tail are values. On RocksDB the log is append-only, so a checkpoint uploads new entries only.
 * The caller sets the current key.
 */
final class KeyedChunkLog {

    private final KeyedChunks entries;
    private final ValueState<Long> head;

    KeyedChunkLog(KeyedStateStore store, String name) {
        this.entries = new KeyedChunks(store, name);
        this.head =
                store.getState(new ValueStateDescriptor<>(name + "-head", LongSerializer.INSTANCE));
    }

    void append(byte[] entry) throws Exception {
        entries.add(entry);
    }

    /** Inserts an entry before the oldest one. */
    void prepend(byte[] entry) throws Exception {
        long position = first() - 1;
        entries.put(position, entry);
        head.update(position);
    }

    /** Replaces or removes each entry. */
    void replaceAll(KeyedChunks.EntryChange change) throws Exception {
        long kept = first();
        for (long position = first(); position < entries.end(); position++) {
            byte[] changed = change.apply(entries.get(position));
            if (changed != null) {
                entries.put(kept++, changed);
            }
        }
        entries.truncate(kept);
    }

    long size() throws Exception {
        return entries.end() - first();
    }

    /** Returns the name of the state with the entries. */
    String name() {
        return entries.name();
    }

    /**
     * Returns the size of a restored log.
     *
     * @throws SuppressRestartsException if head and tail do not enclose the log's entries
     */
    long restoredSize() throws Exception {
        long head = first();
        long size = size();
        if (size < 0 || size > 0 && !(entries.has(head) && entries.has(entries.end() - 1))) {
            throw new SuppressRestartsException(
                    SnapshotDamage.in(
                            entries.name(),
                            "the log lacks entries: head=%d, tail=%d"
                                    .formatted(head, entries.end())));
        }
        return size;
    }

    /** The entry at {@code index} from the head. */
    byte[] get(long index) throws Exception {
        return entries.get(first() + index);
    }

    /** Removes the oldest entry. */
    void remove() throws Exception {
        long position = first();
        entries.remove(position);
        head.update(position + 1);
    }

    void clear() {
        entries.clear();
        head.clear();
    }

    private long first() throws Exception {
        Long value = head.value();
        return value == null ? 0 : value;
    }
}
