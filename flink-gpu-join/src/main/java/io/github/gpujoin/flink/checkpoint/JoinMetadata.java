package io.github.gpujoin.flink.checkpoint;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.KeyHash;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.state.BroadcastState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.OperatorStateStore;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.array.LongPrimitiveArraySerializer;

/**
 * What must be the same in the job that wrote a snapshot and the one that restores it. In broadcast
 * state, so that every subtask finds it whatever the parallelism was:
 *
 * <pre>
 *   0 format version | 1 hash version | 2 partitions | 3 fingerprint of the join
 *   4 number of the partitioned dimension, -1 for none; not in the first snapshots of this format
 * </pre>
 */
public final class JoinMetadata {

    private static final String NAME = "join-metadata";
    private static final Integer KEY = 0;
    private static final long FORMAT_VERSION = 1;
    private static final int PARTITIONED_DIMENSION = 4;

    private final BroadcastState<Integer, long[]> state;
    private final long[] own;

    /**
     * @param partitionedDimension its number, -1 for none
     */
    public JoinMetadata(
            OperatorStateStore store, JoinSpec spec, int partitions, int partitionedDimension)
            throws Exception {
        this.state =
                store.getBroadcastState(
                        new MapStateDescriptor<>(
                                NAME,
                                IntSerializer.INSTANCE,
                                LongPrimitiveArraySerializer.INSTANCE));
        this.own =
                new long[] {
                    FORMAT_VERSION,
                    KeyHash.VERSION,
                    partitions,
                    fingerprint(spec),
                    partitionedDimension
                };
    }

    /**
     * Checks what a snapshot says, if there is one, and writes it for the next.
     *
     * @throws IllegalStateException where the snapshot is of another join
     */
    public void checkAndWrite() throws Exception {
        long[] restored = state.get(KEY);
        if (restored != null) {
            require("the snapshot has a format this release reads", "format", 0, restored);
            require("keys are hashed as they were", "hashVersion", 1, restored);
            require(
                    "the maximum parallelism stays what it was when the state was written",
                    "partitions",
                    2,
                    restored);
            require(
                    "the join has the dimensions and columns it had when the state was written",
                    "joinFingerprint",
                    3,
                    restored);
            if (restored.length > PARTITIONED_DIMENSION) {
                require(
                        "the dimension that is partitioned stays what it was when the state was"
                                + " written",
                        "partitionedDimension",
                        PARTITIONED_DIMENSION,
                        restored);
            }
        }
        state.put(KEY, own);
    }

    private static long fingerprint(JoinSpec spec) {
        List<Object> parts = new ArrayList<>();
        parts.add(spec.factSchema().toString());
        for (DimensionSpec dimension : spec.dimensions()) {
            parts.add(dimension.schema().toString());
            parts.add(dimension.keyColumn());
            parts.add(dimension.factKeyColumn());
            parts.add(dimension.kind().name());
        }
        return parts.hashCode();
    }

    private void require(String rule, String name, int index, long[] restored) {
        Long value = index < restored.length ? restored[index] : null;
        if (value == null || value != own[index]) {
            throw new IllegalStateException(
                    rule + ": expected " + name + "=" + own[index] + ", restored=" + value);
        }
    }
}
