// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import io.github.gpujoin.core.engine.EngineChecks;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.IntConsumer;
import org.apache.flink.api.common.state.KeyedStateStore;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.BooleanSerializer;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.flink.util.function.ThrowingConsumer;
import org.jspecify.annotations.Nullable;

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
 *  replica-log-size, replica-log-d-size: value   {@link BuildLogSizes}
 *  replica-log-complete: value                   set once all dimensions were complete
 *  replica-measured-size: value                  {@link BuildLogSizes} of the measured dimension
 * </pre>
 *
 * <p>Not thread-safe.
 */
public final class ReplicaLog {

    private static final String NAME = "replica-log";

    /** No dimension is measured. */
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
    private @Nullable Long measuredBytes;

    /** Numbers of the changelog dimensions. */
    private final List<Integer> changelogs = new ArrayList<>();

    /** The log of all dimensions without a changelog, then one for each of {@link #changelogs}. */
    private final List<PartitionLog> logs = new ArrayList<>();

    private final LogBytes bytes = new LogBytes();

    // The next chunk of the replay.
    private final Iterator<Integer> partitions;
    private int replayPartition;
    private int replayLog;
    private long replayIndex;
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
        logs.add(new PartitionLog(store, NAME, spec, keys, bytes, false, setCurrentKey));
        for (int d = 0; d < spec.dimensions().size(); d++) {
            if (spec.dimensions().get(d).isChangelog()) {
                changelogs.add(d);
                logs.add(
                        new PartitionLog(
                                store, NAME + "-" + d, spec, keys, bytes, false, setCurrentKey));
            }
        }
        this.partitions = keys.ownPartitions().iterator();
        this.replayPartition = partitions.next();
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
            for (int group : keys.ownPartitions()) {
                if (migration.readAgain().contains(measured)) {
                    measuredSizes.set(PartitionSize.empty(group));
                }
                setCurrentKey.accept(keys.keyOf(group));
                complete.clear();
            }
        }
    }

    /**
     * Checks the keys of the first chunk of each log in each partition.
     *
     * @throws SuppressRestartsException if the job computes another key of a row
     */
    public void checkKeys(KeyCheck check) throws Exception {
        if (check == KeyCheck.NONE) {
            return;
        }
        try {
            for (int group : keys.ownPartitions()) {
                for (PartitionLog each : logs) {
                    if (each.count(group) > 0) {
                        check.check(each.get(group, 0));
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
     * @param chunk whose {@link PartitionKeys#partitionOf} is one of the subtask's own; a chunk of
     *     a changelog dimension has a partition
     * @return whether the caller must emit the chunk now, because the replay has passed its
     *     position
     */
    public boolean append(Chunk chunk) throws Exception {
        int dimension = chunk.dimension();
        int index = logOf(dimension);
        int group = PartitionKeys.partitionOf(chunk, partitionCount);
        logs.get(index).append(group, chunk);
        if (dimension == measured) {
            measuredBytes = measuredBytes() + EngineChecks.payloadBytes(chunk);
            measuredSizes.add(group, chunk);
        }
        boolean passed = hasPassed(index, group);
        if (passed && index > 0) {
            logs.get(index).compact(dimension, group);
        }
        return passed;
    }

    /** Index of a dimension's log in {@link #logs}. */
    private int logOf(int dimension) {
        return changelogs.indexOf(dimension) + 1;
    }

    /** Returns the bytes of the chunks that this attempt appended. */
    public LogBytes bytes() {
        return bytes;
    }

    /** Bytes of the measured dimension's rows in the subtask's own partitions. */
    public long measuredBytes() throws Exception {
        if (measuredBytes == null) {
            long bytes = 0;
            for (int group : keys.ownPartitions()) {
                bytes += measuredSizes.get(group).bytes();
            }
            measuredBytes = bytes;
        }
        return measuredBytes;
    }

    /** The subtask's own partitions. */
    public Iterable<Integer> partitions() {
        return keys.ownPartitions();
    }

    private boolean hasPassed(int index, int group) {
        return replayed || group < replayPartition || group == replayPartition && index < replayLog;
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
    public @Nullable Chunk replayNext(OnEnter entered) throws Exception {
        if (replayed) {
            return null;
        }
        PartitionLog current = logs.get(replayLog);
        if (replayIndex < current.count(replayPartition)) {
            return current.get(replayPartition, replayIndex++);
        }
        replayIndex = 0;
        if (++replayLog < logs.size()) {
            entered.accept(changelogs.get(replayLog - 1), replayPartition);
        } else if (partitions.hasNext()) {
            replayPartition = partitions.next();
            replayLog = 0;
        } else {
            replayed = true;
        }
        return null;
    }

    /**
     * Removes the rows of a changelog dimension that are older than a time.
     *
     * @param timeColumn fixed INT64 column
     * @param deletions receives chunks that delete the removed rows, if the replay has emitted them
     * @return the smallest time of the remaining rows, {@link Long#MAX_VALUE} without any, or
     *     {@link Long#MIN_VALUE} if the call must be repeated after the replay
     */
    public long expire(
            int dimension,
            int group,
            int timeColumn,
            long before,
            ThrowingConsumer<Chunk, Exception> deletions)
            throws Exception {
        int index = logOf(dimension);
        boolean passed = hasPassed(index, group);
        if (!passed && group == replayPartition && index == replayLog && replayIndex > 0) {
            return Long.MIN_VALUE;
        }
        return logs.get(index)
                .expire(dimension, group, timeColumn, before, passed ? deletions : chunk -> {});
    }

    /** Records that all dimensions are complete; only changelogs receive more chunks. */
    public void setComplete() throws Exception {
        for (int group : keys.ownPartitions()) {
            setCurrentKey.accept(keys.keyOf(group));
            complete.update(true);
        }
    }

    /** Whether completeness is recorded for each of the subtask's own partitions. */
    public boolean isComplete() throws Exception {
        for (int group : keys.ownPartitions()) {
            setCurrentKey.accept(keys.keyOf(group));
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
