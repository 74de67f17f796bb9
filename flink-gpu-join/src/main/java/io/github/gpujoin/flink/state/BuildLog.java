// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.region.MemoryReservations;
import java.util.Collections;
import java.util.Iterator;
import java.util.function.IntConsumer;
import java.util.stream.Stream;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.BooleanSerializer;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.util.function.ThrowingConsumer;
import org.jspecify.annotations.Nullable;

/**
 * All build chunks of a subtask of the join, from which engines build tables, and rebuild them.
 *
 * <ul>
 *   <li>Chunks of a partitioned dimension: in keyed state under their partition.
 *   <li>Chunks of replicated and measured dimensions: in the {@link ReplicaLog} of the operator
 *       before the join, which replays them after a restore. This log holds {@linkplain
 *       ReplicaCopies copies} for engines that may reread them.
 * </ul>
 */
public final class BuildLog {

    private static final String PARTITIONED = "build-log";
    private static final String COMPLETE = "build-complete";

    private final PartitionKeys keys;
    private final IntConsumer setCurrentKey;
    private final JoinSpec spec;
    private final PartitionLog partitioned;
    private final ValueState<Boolean> complete;
    private final LogBytes bytes = new LogBytes();
    private boolean rewritesHeld;

    /** Of joins without a replica log, and of snapshots of releases up to 0.1.0. */
    private final BroadcastLog broadcast;

    private final ReplicaCopies copies;

    /**
     * @param copies of chunks of the dimensions that a {@link ReplicaLog} before the join holds
     * @param keepsDeletions whether the last change of each key of the partitioned dimension stays,
     *     also if it is a deletion
     * @param setCurrentKey of the operator that owns the keyed state
     */
    public BuildLog(
            StateInitializationContext context,
            JoinSpec spec,
            PartitionKeys keys,
            ReplicaCopies copies,
            boolean keepsDeletions,
            IntConsumer setCurrentKey)
            throws Exception {
        this.spec = spec;
        this.keys = keys;
        this.setCurrentKey = setCurrentKey;
        this.copies = copies;
        this.partitioned =
                new PartitionLog(
                        context.getKeyedStateStore(),
                        PARTITIONED,
                        spec,
                        keys,
                        bytes,
                        keepsDeletions,
                        setCurrentKey);
        this.complete =
                context.getKeyedStateStore()
                        .getState(new ValueStateDescriptor<>(COMPLETE, BooleanSerializer.INSTANCE));
        this.broadcast = new BroadcastLog(context.getOperatorStateStore(), spec);
    }

    /**
     * Reads chunks of replicated dimensions, if it was opened with them, and then those of a
     * partitioned dimension, partition after partition, each in its order.
     */
    public final class Reader {

        private final Iterator<Chunk> replicatedChunks;
        private final Iterator<Integer> partitions = keys.ownPartitions().iterator();
        private int partition;
        private long next;
        private long size;

        private Reader(Iterator<Chunk> replicatedChunks) {
            this.replicatedChunks = replicatedChunks;
        }

        /** Returns the next chunk, or null at the end. */
        public @Nullable Chunk next() throws Exception {
            if (replicatedChunks.hasNext()) {
                return replicatedChunks.next();
            }
            while (next == size) {
                if (!partitions.hasNext()) {
                    return null;
                }
                partition = partitions.next();
                next = 0;
                size = count(partition);
            }
            return get(partition, next++);
        }
    }

    /** Returns the bytes of the partitioned dimension's chunks that this attempt appended. */
    public LogBytes bytes() {
        return bytes;
    }

    /** A reader of the partitioned dimension's chunks; no chunk may be appended afterwards. */
    public Reader reader() {
        return new Reader(Collections.emptyIterator());
    }

    /**
     * A reader of all chunks, for tables that are rebuilt step by step. It may miss chunks that are
     * appended meanwhile. {@link #holdRewrites} keeps the chunks that it has yet to read.
     */
    public Reader replayReader() throws Exception {
        return new Reader(replicated());
    }

    /** All chunks of replicated dimensions in order; each is read by {@code next()}. */
    public Iterator<Chunk> replicated() throws Exception {
        Stream<Chunk> logged = broadcast.chunks().stream();
        return Stream.concat(logged, copies.chunks()).iterator();
    }

    /**
     * Reserves copies of chunks off the heap. To be called before the first chunk.
     *
     * @param engineMemory to be closed after the copies
     */
    public void reserveCopies(MemoryReservations engineMemory) {
        copies.reserveIn(engineMemory);
    }

    /** While held, the logs of changelog dimensions are not rewritten. */
    public void holdRewrites(boolean held) {
        rewritesHeld = held;
    }

    /**
     * Checks the keys of the first chunk of each partition, and of all chunks in broadcast state.
     *
     * @throws SuppressRestartsException if the job computes another key of a row
     */
    public void checkKeys(KeyCheck check) throws Exception {
        if (check == KeyCheck.NONE) {
            return;
        }
        try {
            for (int partition : keys.ownPartitions()) {
                if (count(partition) > 0) {
                    check.check(get(partition, 0));
                }
            }
            for (Chunk chunk : broadcast.chunks()) {
                check.check(chunk);
            }
        } catch (IllegalStateException e) {
            throw new SuppressRestartsException(e);
        }
    }

    /**
     * Converts all chunks of a snapshot to chunks of this join. To be called before any other
     * method.
     */
    public void migrate(ChunkMigration migration) throws Exception {
        partitioned.migrate(migration);
        broadcast.migrate(migration);
        if (!migration.readAgain().isEmpty()) {
            for (int partition : keys.ownPartitions()) {
                setCurrentKey.accept(keys.keyOf(partition));
                complete.clear();
            }
        }
    }

    public void append(Chunk chunk) throws Exception {
        int partition = chunk.partition();
        boolean compacts = !rewritesHeld && spec.dimensions().get(chunk.dimension()).isChangelog();
        if (copies.isOf(chunk.dimension())) {
            copies.add(chunk, compacts);
        } else if (partition != ChunkDescriptor.UNPARTITIONED) {
            partitioned.append(partition, chunk);
            if (compacts) {
                partitioned.compact(chunk.dimension(), partition);
            }
        } else {
            broadcast.append(chunk, compacts);
        }
    }

    /**
     * Removes the rows of a changelog dimension that are older than a time.
     *
     * @param partition {@link ChunkDescriptor#UNPARTITIONED} for a replicated dimension
     * @param timeColumn fixed INT64 column
     * @param deletions receives chunks that delete these rows from tables
     * @return the smallest time of the remaining rows, or {@link Long#MAX_VALUE} without any
     */
    public long expire(
            int dimension,
            int partition,
            int timeColumn,
            long before,
            ThrowingConsumer<Chunk, Exception> deletions)
            throws Exception {
        return partition == ChunkDescriptor.UNPARTITIONED
                ? broadcast.expire(dimension, timeColumn, before, deletions)
                : partitioned.expire(dimension, partition, timeColumn, before, deletions);
    }

    /** Records in later snapshots that all dimensions are complete. */
    public void setComplete() throws Exception {
        for (int partition : keys.ownPartitions()) {
            setCurrentKey.accept(keys.keyOf(partition));
            complete.update(true);
        }
    }

    /**
     * Whether the snapshot records completeness of each of the subtask's own partitions. Then no
     * chunk is missing, whatever the parallelism was.
     */
    public boolean isComplete() throws Exception {
        for (int partition : keys.ownPartitions()) {
            setCurrentKey.accept(keys.keyOf(partition));
            if (complete.value() == null) {
                return false;
            }
        }
        return true;
    }

    /** Completes the state for a snapshot. */
    public void snapshot() throws Exception {
        partitioned.snapshot();
    }

    /**
     * Emits the size of each of the subtask's own partitions. The log is read only if the snapshot
     * does not hold its size, as snapshots of release 0.1.0 do not.
     */
    public void replaySizes(ThrowingConsumer<PartitionSize, Exception> consumer) throws Exception {
        partitioned.replaySizes(consumer);
    }

    /** Emits all chunks of replicated dimensions, in order. */
    public void replayReplicated(ThrowingConsumer<Chunk, Exception> consumer) throws Exception {
        broadcast.replay(consumer);
        copies.forEach(consumer);
    }

    /** Number of chunks of the partitioned dimension in one of the subtask's own partitions. */
    public long count(int partition) throws Exception {
        return partitioned.count(partition);
    }

    /**
     * Reads a chunk of the partitioned dimension.
     *
     * @param index in order of arrival, from 0
     */
    public Chunk get(int partition, long index) throws Exception {
        return partitioned.get(partition, index);
    }

    /**
     * Emits all chunks, replicated ones first, each log in its order. To be called after a restore
     * before the first append, and whenever tables are rebuilt.
     */
    public void replay(ThrowingConsumer<Chunk, Exception> consumer) throws Exception {
        replayReplicated(consumer);
        for (int partition : keys.ownPartitions()) {
            long size = partitioned.restoredCount(partition);
            for (long i = 0; i < size; i++) {
                consumer.accept(get(partition, i));
            }
        }
    }
}
