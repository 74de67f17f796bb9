package io.github.gpujoin.flink.checkpoint;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.IntConsumer;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.util.function.ThrowingConsumer;

/**
 * All build chunks of a subtask, in state; engine tables are made from it and can be made again.
 *
 * <ul>
 *   <li>Chunks of a partitioned dimension: keyed state under their partition.
 *   <li>Chunks of replicated dimensions: every subtask sees all of them and keeps its share in
 *       union operator state, so that a checkpoint holds one copy and every subtask of any later
 *       parallelism gets all.
 * </ul>
 */
public final class BuildLog {

    private static final String PARTITIONED = "build-log";
    private static final String REPLICATED = "replicated-build-log";

    private final PartitionKeys keys;
    private final IntConsumer setCurrentKey;
    private final KeyedChunkLog partitioned;
    private final ListState<byte[]> replicated;
    private final int parallelism;
    private final int subtaskIndex;

    /**
     * @param setCurrentKey of the operator that owns the keyed state
     */
    public BuildLog(
            StateInitializationContext context,
            PartitionKeys keys,
            IntConsumer setCurrentKey,
            int parallelism,
            int subtaskIndex)
            throws Exception {
        this.keys = keys;
        this.setCurrentKey = setCurrentKey;
        this.partitioned = new KeyedChunkLog(context.getKeyedStateStore(), PARTITIONED);
        this.replicated =
                context.getOperatorStateStore()
                        .getUnionListState(
                                new ListStateDescriptor<>(
                                        REPLICATED, BytePrimitiveArraySerializer.INSTANCE));
        this.parallelism = parallelism;
        this.subtaskIndex = subtaskIndex;
    }

    public void append(Chunk chunk) throws Exception {
        if (chunk.partition() != ChunkDescriptor.UNPARTITIONED) {
            setCurrentKey.accept(keys.keyOf(chunk));
            partitioned.append(chunk.bytes());
        } else if (isOwnShare(chunk)) {
            replicated.add(chunk.bytes());
        }
    }

    /**
     * Gives all chunks of a restored snapshot, replicated ones first, and keeps this subtask's
     * share of those. To be called once, before the first append.
     */
    public void replay(Function<byte[], Chunk> wrap, ThrowingConsumer<Chunk, Exception> consumer)
            throws Exception {
        List<byte[]> own = new ArrayList<>();
        for (byte[] bytes : replicated.get()) {
            Chunk chunk = wrap.apply(bytes);
            consumer.accept(chunk);
            if (isOwnShare(chunk)) {
                own.add(bytes);
            }
        }
        replicated.update(own);
        for (int partition : keys.ownPartitions()) {
            setCurrentKey.accept(keys.keyOf(partition));
            long size = partitioned.size();
            for (long i = 0; i < size; i++) {
                consumer.accept(wrap.apply(partitioned.get(i)));
            }
        }
    }

    /** Chunk headers are the same in every subtask, so that each chunk has one owner. */
    private boolean isOwnShare(Chunk chunk) {
        return Math.floorMod(chunk.sequence() + chunk.dimension(), parallelism) == subtaskIndex;
    }
}
