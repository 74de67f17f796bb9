// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import io.github.gpujoin.core.engine.EngineChecks;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.IntConsumer;
import org.apache.flink.api.common.state.KeyedStateStore;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.BooleanSerializer;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.flink.util.function.ThrowingConsumer;

/**
 * The one copy of replicated dimensions in state: each subtask holds the chunks of its own key
 * groups. A chunk of a changelog dimension is logged under its radix partition, so the changes of a
 * key keep their order through any rescaling. All other chunks are spread over the key groups by
 * their sequence.
 *
 * <p>Each attempt replays the log once, from the lowest key group on. Chunks may be appended
 * meanwhile: those that the replay has not reached yet are part of it.
 *
 * <pre>
 *  replica-log: keyed map, head, tail            chunks of dimensions without a changelog
 *  replica-log-d: keyed map, head, tail          chunks of changelog dimension d
 *  replica-log-size, replica-log-d-size: value   as {@link BuildLogSizes} has it
 *  replica-log-complete: value                   that all dimensions were complete
 *  replica-measured-size: value                  that of the measured dimension alone
 * </pre>
 *
 * <p>Not thread-safe.
 */
public final class ReplicaLog {

    private static final String NAME = "replica-log";

    /** Stands for no measured dimension. */
    public static final int NONE = -1;

    /** Called before a replay enters a partition of a log. */
    @FunctionalInterface
    public interface OnEnter {
        void accept(int dimension, int partition) throws Exception;
    }

    private final PartitionKeys keys;
    private final int partitionCount;
    private final IntConsumer setCurrentKey;
    private final ValueState<Boolean> complete;
    private final int measured;
    private final BuildLogSizes measuredSizes;

    /** Bytes of the measured dimension in all own partitions; null until the first call. */
    private Long measuredBytes;

    /** First the log of all dimensions without a changelog, then one a changelog dimension. */
    private final List<PartitionLog> logs = new ArrayList<>();

    /** Index in {@link #logs} of a changelog dimension. */
    private final Map<Integer, Integer> changing = new HashMap<>();

    /** Dimension of each changelog's log. */
    private final List<Integer> dimensions = new ArrayList<>();

    // The next chunk of the replay.
    private final Iterator<Integer> partitions;
    private int partition;
    private int log;
    private long next;
    private boolean replayed;

    /**
     * @param measured number of the dimension whose size is measured, {@link #NONE} for none; each
     *     of its chunks is of one partition
     * @param partitionCount of the join, as many as there are key groups
     * @param setCurrentKey of the operator that owns the keyed state
     */
    public ReplicaLog(
            KeyedStateStore store,
            JoinSpec spec,
            int measured,
            int partitionCount,
            PartitionKeys keys,
            IntConsumer setCurrentKey) {
        this.partitionCount = partitionCount;
        this.keys = keys;
        this.setCurrentKey = setCurrentKey;
        this.complete =
                store.getState(
                        new ValueStateDescriptor<>(NAME + "-complete", BooleanSerializer.INSTANCE));
        this.measured = measured;
        this.measuredSizes = new BuildLogSizes(store, "replica-measured-size", keys, setCurrentKey);
        logs.add(new PartitionLog(store, NAME, spec, keys, setCurrentKey));
        dimensions.add(null);
        for (int d = 0; d < spec.dimensions().size(); d++) {
            if (spec.dimensions().get(d).isChangelog()) {
                changing.put(d, logs.size());
                dimensions.add(d);
                logs.add(new PartitionLog(store, NAME + "-" + d, spec, keys, setCurrentKey));
            }
        }
        this.partitions = keys.ownPartitions().iterator();
        this.partition = partitions.next();
    }

    /**
     * Converts all chunks of a snapshot to chunks of this join. To be called before any other
     * method.
     */
    public void migrate(ChunkMigration migration) throws Exception {
        for (PartitionLog each : logs) {
            each.migrate(migration);
        }
        if (!migration.readAgain().isEmpty()) {
            for (int place : keys.ownPartitions()) {
                if (migration.readAgain().contains(measured)) {
                    measuredSizes.set(PartitionSize.empty(place));
                }
                setCurrentKey.accept(keys.keyOf(place));
                complete.clear();
            }
        }
    }

    /**
     * Checks the keys of the first chunk of each log in each partition.
     *
     * @throws SuppressRestartsException if a row has another key than in state
     */
    public void checkKeys(KeyCheck check) throws Exception {
        if (check == KeyCheck.NONE) {
            return;
        }
        try {
            for (int place : keys.ownPartitions()) {
                for (PartitionLog each : logs) {
                    if (each.count(place) > 0) {
                        check.check(each.get(place, 0));
                    }
                }
            }
        } catch (IllegalStateException e) {
            throw new SuppressRestartsException(e);
        }
    }

    /**
     * Appends a chunk.
     *
     * @param chunk whose {@link PartitionKeys#partitionOf} is one of the subtask's own; its own if
     *     its dimension changes
     * @return whether the caller emits it now, since the replay does not reach it any more
     */
    public boolean append(Chunk chunk) throws Exception {
        int dimension = chunk.dimension();
        int index = changing.getOrDefault(dimension, 0);
        int place = PartitionKeys.partitionOf(chunk, partitionCount);
        logs.get(index).append(place, chunk);
        if (dimension == measured) {
            measuredBytes = measuredBytes() + EngineChecks.payloadBytes(chunk);
            measuredSizes.add(place, chunk);
        }
        boolean passed = hasPassed(index, place);
        if (passed && index > 0) {
            logs.get(index).compact(dimension, place);
        }
        return passed;
    }

    /** Bytes of the measured dimension's rows in the subtask's own partitions. */
    public long measuredBytes() throws Exception {
        if (measuredBytes == null) {
            long bytes = 0;
            for (int place : keys.ownPartitions()) {
                bytes += measuredSizes.get(place).bytes();
            }
            measuredBytes = bytes;
        }
        return measuredBytes;
    }

    /** The subtask's own partitions. */
    public Iterable<Integer> partitions() {
        return keys.ownPartitions();
    }

    private boolean hasPassed(int index, int place) {
        return replayed || place < partition || place == partition && index < log;
    }

    /** Whether the whole log was replayed. */
    public boolean isReplayed() {
        return replayed;
    }

    /**
     * Replays the next chunk.
     *
     * @param entered called before the first chunk of a changelog dimension in a partition
     * @return null if another call is needed, or at the end, once {@link #isReplayed}
     */
    public Chunk replayNext(OnEnter entered) throws Exception {
        if (replayed) {
            return null;
        }
        PartitionLog current = logs.get(log);
        if (next < current.count(partition)) {
            return current.get(partition, next++);
        }
        next = 0;
        if (++log < logs.size()) {
            entered.accept(dimensions.get(log), partition);
        } else if (partitions.hasNext()) {
            partition = partitions.next();
            log = 0;
        } else {
            replayed = true;
        }
        return null;
    }

    /**
     * Removes the rows of a changelog dimension that are older than a time.
     *
     * @param timeColumn fixed INT64 column
     * @param deletions receives chunks that delete those of the rows that the replay has emitted
     * @return the smallest time of the remaining rows, {@link Long#MAX_VALUE} without any, or
     *     {@link Long#MIN_VALUE} if the call must be repeated after the replay
     */
    public long expire(
            int dimension,
            int place,
            int timeColumn,
            long before,
            ThrowingConsumer<Chunk, Exception> deletions)
            throws Exception {
        int index = changing.get(dimension);
        boolean passed = hasPassed(index, place);
        if (!passed && place == partition && index == log && next > 0) {
            return Long.MIN_VALUE;
        }
        return logs.get(index)
                .expire(dimension, place, timeColumn, before, passed ? deletions : chunk -> {});
    }

    /** Records that all dimensions are complete; only changelogs receive more chunks. */
    public void setComplete() throws Exception {
        for (int place : keys.ownPartitions()) {
            setCurrentKey.accept(keys.keyOf(place));
            complete.update(true);
        }
    }

    /** Whether completeness is recorded for each of the subtask's own partitions. */
    public boolean isComplete() throws Exception {
        for (int place : keys.ownPartitions()) {
            setCurrentKey.accept(keys.keyOf(place));
            if (complete.value() == null) {
                return false;
            }
        }
        return true;
    }

    /** Completes the state for a snapshot. */
    public void snapshot() throws Exception {
        for (PartitionLog each : logs) {
            each.snapshot();
        }
        measuredSizes.snapshot();
    }
}
