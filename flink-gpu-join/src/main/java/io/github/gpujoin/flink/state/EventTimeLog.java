// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.IntFunction;
import java.util.function.IntToLongFunction;
import org.apache.flink.api.common.state.KeyedStateStore;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.array.LongPrimitiveArraySerializer;

/**
 * Facts and versions that wait for their event time, in keyed state under their partition. Also
 * holds the event time up to which the partition's facts were joined at the last snapshot.
 */
public final class EventTimeLog {

    private static final String ROWS = "event-time-rows";
    private static final String JOINED = "event-time-joined";
    private static final String TIMERS = "event-time-timers";

    /** Receives waiting chunks. */
    @FunctionalInterface
    public interface Waiting {

        /**
         * @param position of the chunk among those of its partition, ascending in order of arrival
         */
        void accept(Chunk chunk, long position) throws Exception;
    }

    private final JoinSpec spec;
    private final PartitionKeys keys;
    private final IntConsumer setCurrentKey;
    private final KeyedChunks rows;
    private final ValueState<Long> joined;
    private final ValueState<long[]> timers;

    /**
     * @param setCurrentKey of the operator that owns the keyed state
     */
    public EventTimeLog(
            KeyedStateStore store, JoinSpec spec, PartitionKeys keys, IntConsumer setCurrentKey) {
        this.spec = spec;
        this.keys = keys;
        this.setCurrentKey = setCurrentKey;
        this.rows = new KeyedChunks(store, ROWS);
        this.joined = store.getState(new ValueStateDescriptor<>(JOINED, LongSerializer.INSTANCE));
        this.timers =
                store.getState(
                        new ValueStateDescriptor<>(TIMERS, LongPrimitiveArraySerializer.INSTANCE));
    }

    /**
     * Converts all chunks of a snapshot to chunks of this join. To be called before any other
     * method.
     */
    public void migrate(ChunkMigration migration) throws Exception {
        if (migration.isNone()) {
            return;
        }
        for (int partition : keys.ownPartitions()) {
            setCurrentKey.accept(keys.keyOf(partition));
            rows.replaceAll(migration::migrate);
        }
    }

    /** Returns the position of the chunk, which is of one partition. */
    public long add(Chunk chunk) throws Exception {
        setCurrentKey.accept(keys.keyOf(chunk.partition()));
        return rows.add(chunk.bytes());
    }

    public Chunk get(int partition, long position) throws Exception {
        setCurrentKey.accept(keys.keyOf(partition));
        return LoggedChunks.decode(spec, rows.get(position));
    }

    /** Replaces the chunk at a position of its partition. */
    public void replace(Chunk chunk, long position) throws Exception {
        setCurrentKey.accept(keys.keyOf(chunk.partition()));
        rows.put(position, chunk.bytes());
    }

    public void remove(int partition, long position) throws Exception {
        setCurrentKey.accept(keys.keyOf(partition));
        rows.remove(position);
    }

    /**
     * Writes the event times up to which facts are joined.
     *
     * @param upTo event time in ms, by partition
     */
    public void joined(IntToLongFunction upTo) throws Exception {
        for (int partition : keys.ownPartitions()) {
            setCurrentKey.accept(keys.keyOf(partition));
            joined.update(upTo.applyAsLong(partition));
        }
    }

    /**
     * Writes numbers about the keys of each partition.
     *
     * @param ofPartition returns them; empty for none
     */
    public void timers(IntFunction<long[]> ofPartition) throws Exception {
        for (int partition : keys.ownPartitions()) {
            setCurrentKey.accept(keys.keyOf(partition));
            long[] numbers = ofPartition.apply(partition);
            timers.update(numbers.length == 0 ? null : numbers);
        }
    }

    /** Emits what {@link #timers} wrote in a restored snapshot. */
    public void forEachTimers(Consumer<long[]> consumer) throws Exception {
        for (int partition : keys.ownPartitions()) {
            setCurrentKey.accept(keys.keyOf(partition));
            long[] numbers = timers.value();
            if (numbers != null) {
                consumer.accept(numbers);
            }
        }
    }

    /**
     * Emits the waiting chunks of a restored snapshot; they stay in state.
     *
     * @return event time in ms up to which each partition's facts were joined
     */
    public Map<Integer, Long> restore(Waiting waiting) throws Exception {
        Map<Integer, Long> joinedUpTo = new HashMap<>();
        for (int partition : keys.ownPartitions()) {
            setCurrentKey.accept(keys.keyOf(partition));
            if (joined.value() != null) {
                joinedUpTo.put(partition, joined.value());
            }
            TreeSet<Long> positions = new TreeSet<>();
            rows.positions().forEach(positions::add);
            for (long position : positions) {
                waiting.accept(LoggedChunks.decode(spec, rows.get(position)), position);
            }
        }
        return joinedUpTo;
    }
}
