// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.flink.emit.HashedDimension;
import io.github.gpujoin.flink.emit.OutputField;
import io.github.gpujoin.flink.pack.PackSpec;
import io.github.gpujoin.flink.plan.JoinInput.Packed;
import io.github.gpujoin.flink.record.KeyColumn;
import io.github.gpujoin.flink.record.RecordLayout;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The chunk layouts of all sides of a star join, and their keys. */
final class PackedInputs {

    private final JoinInputs sides;
    private final int keyDimension;
    private final JoinTopology topology;

    /** Keys by dimension. */
    private final List<JoinKey> keys;

    private final Packed facts;
    private final List<Packed> dimensions;

    /**
     * Determines the layouts.
     *
     * @param keyDimension dimension whose key partitions the facts, even if only at first; {@link
     *     JoinInputs#NONE} if there is none
     * @param grouped whether the join emits groups
     * @throws IllegalArgumentException if keys cannot be compared, or columns are missing
     */
    PackedInputs(JoinInputs sides, int keyDimension, boolean grouped, JoinTopology topology) {
        this.sides = sides;
        this.keyDimension = keyDimension;
        this.topology = topology;
        this.keys =
                sides.dimensions().stream().map(side -> JoinKey.of(sides.facts(), side)).toList();
        if (grouped) {
            requireExactKeys();
        }
        planChunks();
        this.facts = packFacts(!grouped || sides.versionedDimension() != JoinInputs.NONE);
        this.dimensions = packDimensions();
    }

    Packed facts() {
        return facts;
    }

    List<Packed> dimensions() {
        return dimensions;
    }

    /** Returns the key of a dimension. */
    JoinKey key(int dimension) {
        return keys.get(dimension);
    }

    /** Returns the layout of a dimension, or of the facts for {@link ChunkDescriptor#FACTS}. */
    Packed of(int side) {
        return side == ChunkDescriptor.FACTS ? facts : dimensions.get(side);
    }

    /** Rejects hashed keys of a grouped join, since no hash collision check can follow its sums. */
    private void requireExactKeys() {
        for (int d = 0; d < sides.dimensions().size(); d++) {
            DimensionInput<?> side = sides.dimensions().get(d);
            if (!keys.get(d).isExact()) {
                throw new IllegalArgumentException(
                        "Key of a grouped join exceeds 64 bits: dimension=%s, columns=%s. Use a key of at most 64 bits."
                                .formatted(side.input().name(), side.columns()));
            }
        }
    }

    private Packed packFacts(boolean timed) {
        JoinKey first = keys.get(Math.max(0, keyDimension));
        JoinInput<?> input = sides.facts();
        boolean partitioned = keyDimension != JoinInputs.NONE;
        return input.pack(
                InputKeys.ofFacts(keys, first, keptNullKeys(sides, keys)),
                timed && input.hasTimestamps(),
                packing(input, ChunkDescriptor.FACTS, partitioned));
    }

    /**
     * Returns the fact keys whose facts are kept if they are null, with the bits of their
     * dimensions.
     */
    static Map<String, Integer> keptNullKeys(JoinInputs sides, List<JoinKey> keys) {
        Map<String, Integer> bits = new LinkedHashMap<>();
        for (int d = 0; d < sides.dimensions().size(); d++) {
            if (sides.dimensions().get(d).kind().keepsUnmatched()) {
                bits.merge(keys.get(d).factColumn(), 1 << d, (a, b) -> a | b);
            }
        }
        for (int d = 0; d < sides.dimensions().size(); d++) {
            if (!sides.dimensions().get(d).kind().keepsUnmatched()) {
                bits.remove(keys.get(d).factColumn());
            }
        }
        return bits;
    }

    private List<Packed> packDimensions() {
        List<Packed> packed = new ArrayList<>();
        for (int d = 0; d < sides.dimensions().size(); d++) {
            DimensionInput<?> side = sides.dimensions().get(d);
            // One subtask packs all changes of a key, so that all replicas receive them in one
            // order.
            boolean byKey = d == keyDimension || side.input().isChangelog();
            PackSpec packing = packing(side.input(), d, byKey);
            InputKeys key = InputKeys.ofDimension(keys.get(d));
            packed.add(side.input().pack(key, hasTime(side), packing));
        }
        return packed;
    }

    private void planChunks() {
        boolean keyed =
                sides.versionedDimension() != JoinInputs.NONE
                        || keyDimension != JoinInputs.NONE
                                && sides.dimensions().get(keyDimension).input().isChangelog();
        topology.planChunks(keyed, sides.dimensions().size());
    }

    private PackSpec packing(JoinInput<?> side, int dimension, boolean partitioned) {
        boolean sent = dimension == ChunkDescriptor.FACTS || dimension == keyDimension;
        return new PackSpec(
                side.name(),
                dimension,
                partitioned ? topology.partitions() : 0,
                0,
                topology.chunkBytes(),
                topology.flushIntervalMs(),
                topology.badRecords(),
                sent ? topology.receivers() : null);
    }

    List<DimensionSpec> specs() {
        List<DimensionSpec> specs = new ArrayList<>();
        for (int d = 0; d < sides.dimensions().size(); d++) {
            DimensionInput<?> side = sides.dimensions().get(d);
            Packed packed = dimensions.get(d);
            specs.add(
                    new DimensionSpec(
                            side.input().name(),
                            packed.schema(),
                            packed.column(keys.get(d).column()),
                            facts.column(keys.get(d).factColumn()),
                            keys.get(d).isExact() ? side.kind() : side.kind().withAllMatches(),
                            packed.schema().indexOf(RecordLayout.CHANGE),
                            keyBytesColumn(d)));
        }
        return specs;
    }

    /**
     * Returns the column by which an engine distinguishes keys of a changelog with equal hashes.
     */
    private int keyBytesColumn(int dimension) {
        JoinKey key = keys.get(dimension);
        return key.isExact() || !sides.dimensions().get(dimension).input().isChangelog()
                ? DimensionSpec.EXACT_KEY
                : dimensions.get(dimension).column(key.computedKey().bytesName());
    }

    /**
     * Returns the column of facts whose values equal those of the dimension's column of key bytes
     * if the keys are equal; {@link DimensionSpec#EXACT_KEY} if the key is not hashed.
     */
    int factKeyBytesColumn(int dimension) {
        JoinKey key = keys.get(dimension);
        return key.isExact()
                ? DimensionSpec.EXACT_KEY
                : facts.column(key.computedFactKey().bytesName());
    }

    /** Returns the dimensions with hashed keys, which need a hash collision check. */
    List<HashedDimension> verified() {
        List<HashedDimension> verified = new ArrayList<>();
        for (int d = 0; d < keys.size(); d++) {
            JoinKey key = keys.get(d);
            if (key.isExact()) {
                continue;
            }
            verified.add(
                    new HashedDimension(
                            d,
                            sides.dimensions().get(d).kind(),
                            keyBytes(ChunkDescriptor.FACTS, key.computedFactKey()),
                            keyBytes(d, key.computedKey()),
                            dimensions.get(d).schema().indexOf(KeyColumn.ROW_NAME)));
        }
        return verified;
    }

    private OutputField keyBytes(int side, KeyColumn<?> key) {
        int column = of(side).column(key.bytesName());
        return new OutputField(key.bytesName(), side, column, of(side).fields().get(column));
    }

    /**
     * Whether rows have a time column, which is the start of their validity or of their time to
     * live.
     */
    private static boolean hasTime(DimensionInput<?> side) {
        return side.isVersioned() || side.ttl() != null;
    }
}
