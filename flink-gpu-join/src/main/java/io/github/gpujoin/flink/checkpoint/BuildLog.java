package io.github.gpujoin.flink.checkpoint;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.RowChange;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntConsumer;
import org.apache.flink.api.common.state.BroadcastState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeutils.base.BooleanSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.util.function.ThrowingConsumer;

/**
 * All build chunks of a subtask, in state; engine tables are made from it and can be made again.
 *
 * <ul>
 *   <li>Chunks of a partitioned dimension: keyed state under their partition.
 *   <li>Chunks of replicated dimensions: broadcast state, as every subtask has all of them. (Union
 *       list state would hold one copy a checkpoint, but rules out checkpoints once some subtasks
 *       have finished.)
 * </ul>
 *
 * <p>The log of a dimension that changes is rewritten, partition by partition, when less than half
 * of its rows may be left.
 */
public final class BuildLog {

    private static final String PARTITIONED = "build-log";

    /** A log of fewer rows is not worth while rewriting. */
    private static final long MIN_REWRITE_ROWS = 1 << 12;

    private static final String COMPLETE = "build-complete";
    private static final String REPLICATED = "replicated-build-log";

    private final JoinSpec spec;
    private final PartitionKeys keys;
    private final IntConsumer setCurrentKey;
    private final KeyedChunkLog partitioned;
    private final BuildLogSizes sizes;
    private final ValueState<Boolean> complete;
    private final BroadcastState<Long, byte[]> replicated;
    private long nextReplicated;

    /** Of a replicated dimension, by its number. */
    private final Map<Integer, Long> replicatedRows = new HashMap<>();

    /** How many rows were left when a log was last rewritten; none before, and after a restore. */
    private final Map<Place, Long> liveRows = new HashMap<>();

    /**
     * Where the log of a dimension is; replicated ones are {@link ChunkDescriptor#UNPARTITIONED}.
     */
    private record Place(int dimension, int partition) {

        boolean isReplicated() {
            return partition == ChunkDescriptor.UNPARTITIONED;
        }
    }

    /**
     * @param setCurrentKey of the operator that owns the keyed state
     */
    public BuildLog(
            StateInitializationContext context,
            JoinSpec spec,
            PartitionKeys keys,
            IntConsumer setCurrentKey)
            throws Exception {
        this.spec = spec;
        this.keys = keys;
        this.setCurrentKey = setCurrentKey;
        this.partitioned = new KeyedChunkLog(context.getKeyedStateStore(), PARTITIONED);
        this.sizes = new BuildLogSizes(context.getKeyedStateStore(), keys, setCurrentKey);
        this.complete =
                context.getKeyedStateStore()
                        .getState(new ValueStateDescriptor<>(COMPLETE, BooleanSerializer.INSTANCE));
        this.replicated =
                context.getOperatorStateStore()
                        .getBroadcastState(
                                new MapStateDescriptor<>(
                                        REPLICATED,
                                        LongSerializer.INSTANCE,
                                        BytePrimitiveArraySerializer.INSTANCE));
    }

    /**
     * Reads the chunks of a partitioned dimension, partition after partition, each in its order.
     */
    public final class Reader {

        private final Iterator<Integer> partitions = keys.ownPartitions().iterator();
        private int partition;
        private long next;
        private long size;

        /** The next chunk, null at the end. */
        public Chunk next() throws Exception {
            while (next == size) {
                if (!partitions.hasNext()) {
                    return null;
                }
                partition = partitions.next();
                setCurrentKey.accept(keys.keyOf(partition));
                next = 0;
                size = partitioned.size();
            }
            setCurrentKey.accept(keys.keyOf(partition));
            return wrap(partitioned.get(next++));
        }
    }

    /** A reader at the start of the log, for when nothing is appended any more. */
    public Reader reader() {
        return new Reader();
    }

    public void append(Chunk chunk) throws Exception {
        write(chunk);
        if (spec.dimensions().get(chunk.dimension()).changes()) {
            Place place = new Place(chunk.dimension(), chunk.partition());
            if (isDue(place)) {
                rewrite(read(place), place);
            }
        }
    }

    private void write(Chunk chunk) throws Exception {
        if (chunk.partition() != ChunkDescriptor.UNPARTITIONED) {
            setCurrentKey.accept(keys.keyOf(chunk.partition()));
            partitioned.append(chunk.bytes());
            sizes.add(chunk);
        } else {
            replicated.put(nextReplicated++, chunk.bytes());
            countReplicated(chunk);
        }
    }

    private void countReplicated(Chunk chunk) {
        replicatedRows.merge(chunk.dimension(), (long) chunk.rowCount(), Long::sum);
    }

    /** Rewriting costs as much as all rows, which is spread over as many as came since. */
    private boolean isDue(Place place) throws Exception {
        long rows =
                place.isReplicated()
                        ? replicatedRows.get(place.dimension)
                        : sizes.get(place.partition).rows();
        return rows > 2 * Math.max(liveRows.getOrDefault(place, 0L), MIN_REWRITE_ROWS);
    }

    /**
     * Takes rows of a dimension that changes out of a log whose time is before another.
     *
     * @param partition {@link ChunkDescriptor#UNPARTITIONED} for a replicated dimension
     * @param timeColumn fixed INT64 column
     * @param deletions given chunks that delete these rows, for tables; the log has none
     * @return the smallest time of a row that is left, the largest there is where none is
     */
    public long expire(
            int dimension,
            int partition,
            int timeColumn,
            long before,
            ThrowingConsumer<Chunk, Exception> deletions)
            throws Exception {
        Place place = new Place(dimension, partition);
        LiveRows live = read(place);
        LiveRows expired = live.removeBefore(timeColumn, before);
        if (expired.size() > 0) {
            rewrite(live, place);
            expired.toChunks(dimension, partition, RowChange.DELETE, deletions);
        }
        return live.oldest(timeColumn);
    }

    /** What changes have left. */
    private LiveRows read(Place place) throws Exception {
        LiveRows live = new LiveRows(spec.dimensions().get(place.dimension));
        if (!place.isReplicated()) {
            for (long i = 0; i < count(place.partition); i++) {
                live.apply(get(place.partition, i));
            }
            return live;
        }
        for (Chunk chunk : replicatedInOrder().values()) {
            if (chunk.dimension() == place.dimension) {
                live.apply(chunk);
            }
        }
        return live;
    }

    /** Leaves only these rows in the log. */
    private void rewrite(LiveRows live, Place place) throws Exception {
        if (!place.isReplicated()) {
            setCurrentKey.accept(keys.keyOf(place.partition));
            partitioned.clear();
            sizes.set(PartitionSize.empty(place.partition));
        } else {
            for (Map.Entry<Long, Chunk> entry : replicatedInOrder().entrySet()) {
                if (entry.getValue().dimension() == place.dimension) {
                    replicated.remove(entry.getKey());
                }
            }
            replicatedRows.remove(place.dimension);
        }
        live.toChunks(place.dimension, place.partition, RowChange.UPSERT, this::write);
        liveRows.put(place, (long) live.size());
    }

    private TreeMap<Long, Chunk> replicatedInOrder() throws Exception {
        TreeMap<Long, Chunk> inOrder = new TreeMap<>();
        for (Map.Entry<Long, byte[]> entry : replicated.immutableEntries()) {
            inOrder.put(entry.getKey(), wrap(entry.getValue()));
        }
        return inOrder;
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
        sizes.snapshot();
    }

    /**
     * Gives the size of each of the subtask's own partitions. The log is read only where the
     * snapshot does not say how much it holds, as those of release 0.1.0 do not.
     */
    public void replaySizes(ThrowingConsumer<PartitionSize, Exception> consumer) throws Exception {
        for (int partition : keys.ownPartitions()) {
            PartitionSize size = sizes.get(partition);
            if (size.chunks() != count(partition)) {
                size = PartitionSize.empty(partition);
                for (long i = 0; i < count(partition); i++) {
                    size = size.plus(get(partition, i));
                }
                sizes.set(size);
            }
            consumer.accept(size);
        }
    }

    /** Gives all chunks of replicated dimensions, in order. */
    public void replayReplicated(ThrowingConsumer<Chunk, Exception> consumer) throws Exception {
        TreeMap<Long, Chunk> inOrder = replicatedInOrder();
        replicatedRows.clear();
        for (Chunk chunk : inOrder.values()) {
            countReplicated(chunk);
            consumer.accept(chunk);
        }
        nextReplicated = inOrder.isEmpty() ? 0 : inOrder.lastKey() + 1;
    }

    /** Chunks of the partitioned dimension in one of the subtask's own partitions. */
    public long count(int partition) throws Exception {
        setCurrentKey.accept(keys.keyOf(partition));
        return partitioned.size();
    }

    /**
     * One of them.
     *
     * @param index in order of arrival, from 0
     */
    public Chunk get(int partition, long index) throws Exception {
        setCurrentKey.accept(keys.keyOf(partition));
        return wrap(partitioned.get(index));
    }

    /**
     * Gives all chunks, replicated ones first, each log in its order. To be called before the first
     * append where a snapshot was restored, and again whenever tables are to be made anew.
     */
    public void replay(ThrowingConsumer<Chunk, Exception> consumer) throws Exception {
        replayReplicated(consumer);
        for (int partition : keys.ownPartitions()) {
            setCurrentKey.accept(keys.keyOf(partition));
            long size = partitioned.size();
            for (long i = 0; i < size; i++) {
                consumer.accept(wrap(partitioned.get(i)));
            }
        }
    }

    private Chunk wrap(byte[] bytes) {
        return LoggedChunks.wrap(spec, bytes);
    }
}
