package io.github.gpujoin.flink.checkpoint;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.KeyHash;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.OperatorStateStore;
import org.apache.flink.api.common.typeutils.base.array.LongPrimitiveArraySerializer;

/**
 * What must be the same in the job that wrote a snapshot and the one that restores it, and whether
 * the build side was complete. One entry a subtask, in union operator state:
 *
 * <pre>
 *   0 format version | 1 hash version | 2 partitions | 3 fingerprint of the join | 4 build complete
 * </pre>
 */
public final class JoinMetadata {

    private static final String NAME = "join-metadata";
    private static final long FORMAT_VERSION = 1;
    private static final int LENGTH = 5;

    private final ListState<long[]> state;
    private final long partitions;
    private final long fingerprint;

    public JoinMetadata(OperatorStateStore store, JoinSpec spec, int partitions) throws Exception {
        this.state =
                store.getUnionListState(
                        new ListStateDescriptor<>(NAME, LongPrimitiveArraySerializer.INSTANCE));
        this.partitions = partitions;
        this.fingerprint = fingerprint(spec);
    }

    /**
     * Checks a restored snapshot.
     *
     * @return whether the build side was complete in all subtasks
     * @throws IllegalStateException where the snapshot is of another join
     */
    public boolean restore() throws Exception {
        boolean complete = true;
        int subtasks = 0;
        for (long[] entry : state.get()) {
            require(
                    "the snapshot is of a format this release reads",
                    "entry",
                    LENGTH,
                    entry.length);
            require(
                    "the snapshot is of a format this release reads",
                    "format",
                    FORMAT_VERSION,
                    entry[0]);
            require("keys are hashed as they were", "hashVersion", KeyHash.VERSION, entry[1]);
            require(
                    "the maximum parallelism stays what it was when the state was written",
                    "partitions",
                    partitions,
                    entry[2]);
            require(
                    "the join has the dimensions and columns it had when the state was written",
                    "joinFingerprint",
                    fingerprint,
                    entry[3]);
            complete &= entry[4] == 1;
            subtasks++;
        }
        return complete && subtasks > 0;
    }

    public void snapshot(boolean buildComplete) throws Exception {
        state.update(
                List.of(
                        new long[] {
                            FORMAT_VERSION,
                            KeyHash.VERSION,
                            partitions,
                            fingerprint,
                            buildComplete ? 1 : 0
                        }));
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

    private static void require(String rule, String name, long expected, long actual) {
        if (expected != actual) {
            throw new IllegalStateException(
                    rule + ": expected " + name + "=" + expected + ", restored=" + actual);
        }
    }
}
