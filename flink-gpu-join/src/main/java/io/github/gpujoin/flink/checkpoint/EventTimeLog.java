package io.github.gpujoin.flink.checkpoint;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntConsumer;
import java.util.function.IntToLongFunction;
import org.apache.flink.api.common.state.KeyedStateStore;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.util.function.ThrowingConsumer;

/**
 * Facts and versions that wait for their event time, as a snapshot holds them: in keyed state under
 * their partition, with the time up to which the partition's facts were joined.
 */
public final class EventTimeLog {

    private static final String ROWS = "event-time-rows";
    private static final String JOINED = "event-time-joined";

    private final JoinSpec spec;
    private final PartitionKeys keys;
    private final IntConsumer setCurrentKey;
    private final KeyedChunkLog rows;
    private final ValueState<Long> joined;

    /**
     * @param setCurrentKey of the operator that owns the keyed state
     */
    public EventTimeLog(
            KeyedStateStore store, JoinSpec spec, PartitionKeys keys, IntConsumer setCurrentKey) {
        this.spec = spec;
        this.keys = keys;
        this.setCurrentKey = setCurrentKey;
        this.rows = new KeyedChunkLog(store, ROWS);
        this.joined = store.getState(new ValueStateDescriptor<>(JOINED, LongSerializer.INSTANCE));
    }

    /**
     * Replaces what the last snapshot held.
     *
     * @param waiting chunks of one partition each, in order of arrival
     * @param joinedUpTo event time in ms, by partition
     */
    public void write(List<Chunk> waiting, IntToLongFunction joinedUpTo) throws Exception {
        for (int partition : keys.ownPartitions()) {
            setCurrentKey.accept(keys.keyOf(partition));
            rows.clear();
            joined.update(joinedUpTo.applyAsLong(partition));
        }
        for (Chunk chunk : waiting) {
            setCurrentKey.accept(keys.keyOf(chunk));
            rows.append(chunk.bytes());
        }
    }

    /**
     * Gives what waits of a restored snapshot.
     *
     * @return event time in ms up to which each partition's facts were joined
     */
    public Map<Integer, Long> restore(ThrowingConsumer<Chunk, Exception> waiting) throws Exception {
        Map<Integer, Long> joinedUpTo = new HashMap<>();
        for (int partition : keys.ownPartitions()) {
            setCurrentKey.accept(keys.keyOf(partition));
            if (joined.value() != null) {
                joinedUpTo.put(partition, joined.value());
            }
            for (long i = 0; i < rows.size(); i++) {
                waiting.accept(LoggedChunks.wrap(spec, rows.get(i)));
            }
        }
        return joinedUpTo;
    }
}
