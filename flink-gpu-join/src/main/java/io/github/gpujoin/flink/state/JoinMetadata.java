// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.KeyHash;
import io.github.gpujoin.flink.record.SnapshotDamage;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.flink.api.common.state.BroadcastState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.OperatorStateStore;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.api.common.typeutils.base.array.LongPrimitiveArraySerializer;
import org.apache.flink.runtime.execution.SuppressRestartsException;

/**
 * Properties that the job that wrote a snapshot shares with the job that restores it. They are in
 * broadcast state, so every subtask reads them, whatever the parallelism was:
 *
 * <pre>
 *  join-metadata: int64 each
 *   0 format version | 1 hash version | 2 partitions | 3 fingerprint of the join
 *   4 number of the partitioned dimension, -1 for none; not in the first snapshots of format 1
 *  join-columns: {@link JoinColumns}, from format 2 on
 *  join-functions: {@link FunctionIdentity} by role; empty in the first snapshots of format 2
 *  join-generations: {@link Generations} by dimension; empty in the first snapshots of format 2
 * </pre>
 *
 * <p>Format 1, up to release 0.1.0, has a fingerprint in place of the columns. The columns must
 * then be equal, and their types are not compared.
 */
public final class JoinMetadata {

    static final String COLUMNS = "join-columns";
    static final String FUNCTIONS = "join-functions";
    static final String GENERATIONS = "join-generations";

    private static final String METADATA = "join-metadata";
    private static final Integer KEY = 0;
    private static final long FORMAT_VERSION = 2;
    private static final long FINGERPRINT_VERSION = 1;
    private static final int FINGERPRINT = 3;
    private static final int PARTITIONED_DIMENSION = 4;

    private final BroadcastState<Integer, long[]> state;
    private final BroadcastState<Integer, byte[]> columnState;
    private final BroadcastState<String, String> functionState;
    private final BroadcastState<String, String> generationState;
    private final JoinColumns columns;
    private final long[] own;

    /**
     * @param columns of the sides of {@code spec}
     * @param partitionedDimension its number, -1 for none
     */
    public JoinMetadata(
            OperatorStateStore store,
            JoinSpec spec,
            JoinColumns columns,
            int partitions,
            int partitionedDimension)
            throws Exception {
        this.columns = columns;
        this.state =
                store.getBroadcastState(
                        new MapStateDescriptor<>(
                                METADATA,
                                IntSerializer.INSTANCE,
                                LongPrimitiveArraySerializer.INSTANCE));
        this.columnState =
                store.getBroadcastState(
                        new MapStateDescriptor<>(
                                COLUMNS,
                                IntSerializer.INSTANCE,
                                BytePrimitiveArraySerializer.INSTANCE));
        this.functionState = texts(store, FUNCTIONS);
        this.generationState = texts(store, GENERATIONS);
        this.own =
                new long[] {
                    FORMAT_VERSION,
                    KeyHash.VERSION,
                    partitions,
                    fingerprint(spec),
                    partitionedDimension
                };
    }

    private static BroadcastState<String, String> texts(OperatorStateStore store, String name)
            throws Exception {
        return store.getBroadcastState(
                new MapStateDescriptor<>(
                        name, StringSerializer.INSTANCE, StringSerializer.INSTANCE));
    }

    /**
     * Compares the join with the snapshot's, if any, and writes it for the next snapshot.
     *
     * @param classes of the user's job
     * @return converts chunks of the snapshot to chunks of this join
     * @throws SuppressRestartsException if the snapshot is of another join or is damaged; a restart
     *     would meet that again
     */
    public ChunkMigration checkAndWrite(ClassLoader classes) throws Exception {
        try {
            long[] restored = state.get(KEY);
            ChunkMigration migration =
                    restored == null ? ChunkMigration.NONE : check(restored, classes);
            state.put(KEY, own);
            columnState.put(KEY, columns.toBytes());
            writeTexts();
            return migration;
        } catch (IllegalStateException e) {
            throw new SuppressRestartsException(e);
        }
    }

    private void writeTexts() throws Exception {
        functionState.clear();
        for (Map.Entry<String, FunctionIdentity> each : columns.functions().byRole().entrySet()) {
            functionState.put(each.getKey(), each.getValue().toString());
        }
        generationState.clear();
        for (Generations.Side each : columns.generations().dimensions()) {
            generationState.put(each.dimension(), Generations.text(each));
        }
    }

    private static Map<String, String> read(BroadcastState<String, String> state) throws Exception {
        Map<String, String> saved = new HashMap<>();
        state.immutableEntries().forEach(each -> saved.put(each.getKey(), each.getValue()));
        return saved;
    }

    private ChunkMigration check(long[] restored, ClassLoader classes) throws Exception {
        requireValues(restored, 1);
        if (restored[0] != FORMAT_VERSION && restored[0] != FINGERPRINT_VERSION) {
            throw new IllegalStateException(
                    String.format(
                            "The snapshot has format %d of a join's state, this release reads 1 and"
                                    + " 2. Restore it with the release that wrote it, or a later one.",
                            restored[0]));
        }
        requireValues(restored, FINGERPRINT + 1);
        require(
                "The state was written with another hash of keys",
                "hashVersion",
                1,
                restored,
                "Restore it with the release that wrote it.");
        require(
                "The maximum parallelism differs from that of the state",
                "partitions",
                2,
                restored,
                "Set env.setMaxParallelism(n) as it was.");
        // The comparison of columns names a replaced dimension better.
        boolean hasColumns = columnState.contains(KEY);
        Set<Integer> readAgain = columns.generations().readAgain(read(generationState));
        ChunkMigration migration =
                hasColumns
                        ? ChunkMigration.of(
                                SavedColumns.of(columnState.get(KEY)), columns, readAgain, classes)
                        : ChunkMigration.NONE;
        if (!hasColumns) {
            require(
                    "Dimensions or columns differ from those of the state, which has no names",
                    "joinFingerprint",
                    FINGERPRINT,
                    restored,
                    "Restore the order, keys and kinds of dimensions, and .select(...).");
        }
        if (restored.length > PARTITIONED_DIMENSION) {
            require(
                    "Another dimension is partitioned than in the state",
                    "partitionedDimension",
                    PARTITIONED_DIMENSION,
                    restored,
                    "Call .partitioned() or .replicated() as it was.");
        }
        Set<String> exempt =
                readAgain.stream()
                        .map(d -> columns.generations().dimensions().get(d).dimension())
                        .map(JoinFunctions::filterOf)
                        .collect(Collectors.toSet());
        columns.functions().requireUnchanged(read(functionState), exempt);
        return migration;
    }

    private static void requireValues(long[] restored, int count) {
        if (restored.length < count) {
            throw SnapshotDamage.in(
                    METADATA,
                    "values are missing: count=%d, expected at least %d"
                            .formatted(restored.length, count));
        }
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

    private void require(String fault, String name, int index, long[] restored, String remedy) {
        if (restored[index] != own[index]) {
            throw new IllegalStateException(
                    "%s: expected %s=%d, restored=%d. %s"
                            .formatted(fault, name, own[index], restored[index], remedy));
        }
    }
}
