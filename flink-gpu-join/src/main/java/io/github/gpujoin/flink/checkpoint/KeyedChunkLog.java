package io.github.gpujoin.flink.checkpoint;

import java.io.IOException;
import java.util.NoSuchElementException;
import org.apache.flink.api.common.state.KeyedStateStore;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;

/**
 * A queue of byte arrays under the current key, in managed keyed state.
 *
 * <p>Entries stand in a map under ascending positions, which start at 0 and may go below; head and
 * tail are values. On RocksDB that is append-only: a checkpoint uploads what was added. The caller
 * sets the current key.
 */
final class KeyedChunkLog {

    private final String name;
    private final MapState<Long, byte[]> entries;
    private final ValueState<Long> head;
    private final ValueState<Long> tail;

    KeyedChunkLog(KeyedStateStore store, String name) {
        this.name = name;
        this.entries =
                store.getMapState(
                        new MapStateDescriptor<>(
                                name,
                                LongSerializer.INSTANCE,
                                BytePrimitiveArraySerializer.INSTANCE));
        this.head =
                store.getState(new ValueStateDescriptor<>(name + "-head", LongSerializer.INSTANCE));
        this.tail =
                store.getState(new ValueStateDescriptor<>(name + "-tail", LongSerializer.INSTANCE));
    }

    void append(byte[] entry) throws Exception {
        try {
            long position = position(tail);
            entries.put(position, entry);
            tail.update(position + 1);
        } catch (Exception e) {
            throw new IOException(
                    "the state backend keeps every chunk that is spilled or waits, and needs the"
                            + " space for it: state="
                            + name
                            + ", bytes="
                            + entry.length,
                    e);
        }
    }

    /** Puts an entry in front of the oldest one. */
    void prepend(byte[] entry) throws Exception {
        long position = position(head) - 1;
        entries.put(position, entry);
        head.update(position);
    }

    long size() throws Exception {
        return position(tail) - position(head);
    }

    /** The entry {@code index} places behind the head. */
    byte[] get(long index) throws Exception {
        byte[] entry = entries.get(position(head) + index);
        if (entry == null) {
            throw new NoSuchElementException(
                    "the log holds all entries from head to tail: head="
                            + position(head)
                            + ", tail="
                            + position(tail)
                            + ", index="
                            + index);
        }
        return entry;
    }

    /** Takes the oldest entry out. */
    void remove() throws Exception {
        long position = position(head);
        entries.remove(position);
        head.update(position + 1);
    }

    void clear() {
        entries.clear();
        head.clear();
        tail.clear();
    }

    private static long position(ValueState<Long> state) throws Exception {
        Long value = state.value();
        return value == null ? 0 : value;
    }
}
