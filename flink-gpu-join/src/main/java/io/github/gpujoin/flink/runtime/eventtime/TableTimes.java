// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.eventtime;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.state.FullKey;
import io.github.gpujoin.flink.state.FullKeys;
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

    private final FullKeys keys;
    private final int timeColumn;
    private final EventTimeOrder.Target target;
    private final Map<Integer, Map<FullKey, Long>> times = new HashMap<>();

    TableTimes(FullKeys keys, int timeColumn, EventTimeOrder.Target target) {
        this.keys = keys;
        this.timeColumn = timeColumn;
        this.target = target;
    }

    /** Whether {@link #of} needs not read the log. */
    boolean isLoaded(int partition) {
        return times.containsKey(partition);
    }

    /** Returns the event time of a key's version in ms, or {@link #NEVER}. */
    long of(int partition, FullKey key) throws Exception {
        Map<FullKey, Long> loaded = times.get(partition);
        if (loaded == null) {
            loaded = load(partition);
            times.put(partition, loaded);
        }
        return loaded.getOrDefault(key, NEVER);
    }

    private Map<FullKey, Long> load(int partition) throws Exception {
        Map<FullKey, Long> read = new HashMap<>();
        target.forEachChange(
                partition,
                (Chunk chunk, Integer row) ->
                        read.put(keys.get(chunk, row), chunk.getLong(timeColumn, row)));
        return read;
    }

    /** Sets the time of a key, if its partition is loaded. */
    void set(int partition, FullKey key, long time) {
        Map<FullKey, Long> loaded = times.get(partition);
        if (loaded != null) {
            loaded.put(key, time);
        }
    }
}
