// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.eventtime;

import io.github.gpujoin.core.layout.Chunk;
import java.util.HashMap;
import java.util.Map;

/**
 * Event times of the versions in the table, deletions included. Read from the dimension's log for
 * each partition in which a row is late, and kept from then on, so a job without late rows has
 * none.
 */
final class TableTimes {

    /** Time of a key that never had a version. */
    static final long NEVER = Long.MIN_VALUE;

    private final int keyColumn;
    private final int timeColumn;
    private final EventTimeOrder.Target target;
    private final Map<Integer, Map<Long, Long>> times = new HashMap<>();

    TableTimes(int keyColumn, int timeColumn, EventTimeOrder.Target target) {
        this.keyColumn = keyColumn;
        this.timeColumn = timeColumn;
        this.target = target;
    }

    /** Whether {@link #of} needs not read the log. */
    boolean isLoaded(int partition) {
        return times.containsKey(partition);
    }

    /** Returns the event time of a key's version in ms, or {@link #NEVER}. */
    long of(int partition, long key) throws Exception {
        Map<Long, Long> loaded = times.get(partition);
        if (loaded == null) {
            loaded = load(partition);
            times.put(partition, loaded);
        }
        return loaded.getOrDefault(key, NEVER);
    }

    private Map<Long, Long> load(int partition) throws Exception {
        Map<Long, Long> read = new HashMap<>();
        target.forEachChange(
                partition,
                (Chunk chunk, Integer row) ->
                        read.put(chunk.getLong(keyColumn, row), chunk.getLong(timeColumn, row)));
        return read;
    }

    /** Sets the time of a key, if its partition is loaded. */
    void set(int partition, long key, long time) {
        Map<Long, Long> loaded = times.get(partition);
        if (loaded != null) {
            loaded.put(key, time);
        }
    }
}
