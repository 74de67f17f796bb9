// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.eventtime;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.state.FullKey;
import io.github.gpujoin.flink.state.FullKeys;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * Event times of the versions in the table, deletions included. Read from the dimension's log for
 * each partition in which a row is late, so a job without late rows has none.
 *
 * <p>The times of a partition are a cache, and leave the heap when others need its bounded room:
 * those of the partition whose last late row is the oldest leave first. If the times of one
 * partition exceed the bound, each late row of it reads the log.
 */
final class TableTimes {

    /** Time of a key that never had a version. */
    static final long NEVER = Long.MIN_VALUE;

    /** Heap for an entry without the bytes of its key: a node of the map, the key, and the time. */
    static final long ENTRY_BYTES = 120;

    private static final int HEAP_SHARE = 16;

    private final FullKeys keys;
    private final int timeColumn;
    private final EventTimeOrder.Target target;
    private final long limitBytes;

    /** Times by partition, those of the oldest use first. */
    private final LinkedHashMap<Integer, Times> loaded = new LinkedHashMap<>(16, 0.75f, true);

    /** Partitions whose times exceed the bound. */
    private final Set<Integer> tooLarge = new HashSet<>();

    private long usedBytes;

    /** Times by key of one partition. */
    private static final class Times {
        final Map<FullKey, Long> byKey = new HashMap<>();
        long bytes;
    }

    /**
     * @param limitBytes of the heap
     */
    TableTimes(FullKeys keys, int timeColumn, EventTimeOrder.Target target, long limitBytes) {
        this.keys = keys;
        this.timeColumn = timeColumn;
        this.target = target;
        this.limitBytes = limitBytes;
    }

    /** Returns the bound for a subtask in this process. */
    static long limitBytes() {
        return Runtime.getRuntime().maxMemory() / HEAP_SHARE;
    }

    /** Returns the estimated heap of all times. */
    long usedBytes() {
        return usedBytes;
    }

    /** Whether {@link #of} needs not read the log. */
    boolean isLoaded(int partition) {
        return loaded.containsKey(partition);
    }

    /** Returns the event time of a key's version in ms, or {@link #NEVER}. */
    long of(int partition, FullKey key) throws Exception {
        Times times = loaded.get(partition);
        return times == null ? load(partition, key) : times.byKey.getOrDefault(key, NEVER);
    }

    /** Reads the times of a partition, and returns that of a key. */
    private long load(int partition, FullKey key) throws Exception {
        long[] found = {NEVER};
        if (!tooLarge.contains(partition)) {
            loaded.put(partition, new Times());
        }
        target.forEachChange(
                partition,
                (Chunk chunk, Integer row) -> {
                    long time = chunk.getLong(timeColumn, row);
                    if (keys.isEqual(key, chunk, row)) {
                        found[0] = time;
                    }
                    if (isLoaded(partition)) {
                        set(partition, keys.get(chunk, row), time);
                    }
                });
        return found[0];
    }

    /** Sets the time of a key, if its partition is loaded. */
    void set(int partition, FullKey key, long time) {
        Times times = loaded.get(partition);
        if (times != null && times.byKey.put(key, time) == null) {
            long bytes = ENTRY_BYTES + key.bytes().length;
            times.bytes += bytes;
            usedBytes += bytes;
            shrink(partition);
        }
    }

    /**
     * Drops times until the others are within the bound.
     *
     * @param partition whose times were used last; dropped only after all others
     */
    private void shrink(int partition) {
        Iterator<Map.Entry<Integer, Times>> oldest = loaded.entrySet().iterator();
        while (usedBytes > limitBytes) {
            Map.Entry<Integer, Times> dropped = oldest.next();
            usedBytes -= dropped.getValue().bytes;
            if (dropped.getKey() == partition) {
                tooLarge.add(partition);
            }
            oldest.remove();
        }
    }
}
