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

/**
 * All build chunks of a subtask of the join, from which engines make tables and can make them
 * again.
 *
 * <ul>
 *   <li>Chunks of a partitioned dimension: in keyed state under their partition.
 *   <li>Chunks of replicated dimensions, and of one whose size was measured and is too large for
 *       that: in the {@link ReplicaLog} of the operator before the join, which replays them after a
 *       restore. Here are {@linkplain ReplicaCopies copies} for engines that may read them again.
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
    private boolean rewritesHeld;

    /** Of joins without a replica log, and of snapshots of releases up to 0.1.0. */
    private final BroadcastLog broadcast;

    /** Null if the join has no replica log before it. */
    private final ReplicaCopies copies;

    /**
     * @param copies of chunks of replicated dimensions; null if these are logged here
     * @param setCurrentKey of the operator that owns the keyed state
     */
    public BuildLog(
            StateInitializationContext context,
            JoinSpec spec,
            PartitionKeys keys,
            ReplicaCopies copies,
            IntConsumer setCurrentKey)
            throws Exception {
        this.spec = spec;
        this.keys = keys;
        this.setCurrentKey = setCurrentKey;
        this.copies = copies;
        this.partitioned =
                new PartitionLog(
                        context.getKeyedStateStore(), PARTITIONED, spec, keys, setCurrentKey);
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

        /** The next chunk, null at the end. */
        public Chunk next() throws Exception {
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

    /** A reader of the partitioned dimension's chunks, for when nothing is appended any more. */
    public Reader reader() {
        return new Reader(Collections.emptyIterator());
    }

    /**
     * A reader of all chunks, for tables that are made anew step by step. Chunks that are appended
     * meanwhile may be missing; {@link #holdRewrites} keeps those that it has not read yet.
     */
    public Reader replayReader() throws Exception {
        return new Reader(replicated());
    }

    /** All chunks of replicated dimensions, in order, each read when it is asked for. */
    public Iterator<Chunk> replicated() throws Exception {
        Stream<Chunk> logged = broadcast.chunks().stream();
        Stream<Chunk> copied = copies == null ? Stream.empty() : copies.chunks();
        return Stream.concat(logged, copied).iterator();
    }

    /**
     * Reserves copies of chunks off the heap. To be called before the first chunk.
     *
     * @param engineMemory to be closed after the copies
     */
    public void reserveCopies(MemoryReservations engineMemory) {
        if (copies != null) {
            copies.reserveIn(engineMemory);
        }
    }

    /** While held, the logs of dimensions that change grow rather than be rewritten. */
    public void holdRewrites(boolean held) {
        rewritesHeld = held;
    }

    /**
     * Checks the keys of the first chunk of each partition, and of all that are in broadcast state.
     *
     * @throws SuppressRestartsException if a row has another key than in state
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

    /** Makes all chunks of a snapshot chunks of this join. To be called before any other method. */
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
        if (copies != null && copies.isOf(chunk.dimension())) {
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
     * Removes the rows of a dimension that changes whose time is before another.
     *
     * @param partition {@link ChunkDescriptor#UNPARTITIONED} for a replicated dimension
     * @param timeColumn fixed INT64 column
     * @param deletions receives chunks that delete these rows, for tables; the log has none
     * @return the smallest time of a row that is left, {@link Long#MAX_VALUE} if there is none
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

    /** The join waits for no more chunks. Snapshots from now on say so. */
    public void setComplete() throws Exception {
        for (int partition : keys.ownPartitions()) {
            setCurrentKey.accept(keys.keyOf(partition));
            complete.update(true);
        }
    }

    /**
     * Whether that was said of each of the subtask's own partitions, so that no chunk is missing
     * whatever the parallelism was.
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
     * Gives the size of each of the subtask's own partitions. The log is read only where the
     * snapshot does not say how much it holds, as those of release 0.1.0 do not.
     */
    public void replaySizes(ThrowingConsumer<PartitionSize, Exception> consumer) throws Exception {
        partitioned.replaySizes(consumer);
    }

    /** Emits all chunks of replicated dimensions, in order. */
    public void replayReplicated(ThrowingConsumer<Chunk, Exception> consumer) throws Exception {
        broadcast.replay(consumer);
        if (copies != null) {
            copies.forEach(consumer);
        }
    }

    /** Chunks of the partitioned dimension in one of the subtask's own partitions. */
    public long count(int partition) throws Exception {
        return partitioned.count(partition);
    }

    /**
     * One of them.
     *
     * @param index in order of arrival, from 0
     */
    public Chunk get(int partition, long index) throws Exception {
        return partitioned.get(partition, index);
    }

    /**
     * Gives all chunks, replicated ones first, each log in its order. To be called before the first
     * append where a snapshot was restored, and again whenever tables are to be made anew.
     */
    public void replay(ThrowingConsumer<Chunk, Exception> consumer) throws Exception {
        replayReplicated(consumer);
        for (int partition : keys.ownPartitions()) {
            long size = count(partition);
            for (long i = 0; i < size; i++) {
                consumer.accept(get(partition, i));
            }
        }
    }
}
