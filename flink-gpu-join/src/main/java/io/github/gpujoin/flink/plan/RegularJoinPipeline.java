// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.symmetric.SymmetricJoinSpec;
import io.github.gpujoin.flink.record.RowKey;
import io.github.gpujoin.flink.record.StoredRowLayout;
import io.github.gpujoin.flink.runtime.symmetric.JoinedRowEmitter;
import io.github.gpujoin.flink.runtime.symmetric.RowPairCondition;
import io.github.gpujoin.flink.runtime.symmetric.TwoInputPlan;
import java.util.List;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.RowType;
import org.jspecify.annotations.Nullable;

/**
 * Builds the operators of a regular join of two streams of internal rows: a packer for each input,
 * the exchange by radix partition, and the join.
 *
 * <p>The result has the columns of the left input followed by those of the right one, or only those
 * of the left one for semi and anti joins. Its rows have kinds of change as those of Flink's
 * regular join, and no timestamps; watermarks are the smaller ones of both inputs.
 *
 * @param env of the job
 * @param config options of the join; those of a query may differ from those of the environment
 * @param kind which rows are results
 * @param filterNulls for each pair of key columns whether a null in them matches nothing; else a
 *     null equals a null
 * @param condition that rows with equal keys must meet to match; null for none
 * @param uid prefix of the uids of the operators
 * @param parallelism of the join
 */
public record RegularJoinPipeline(
        StreamExecutionEnvironment env,
        ReadableConfig config,
        RegularJoinInput left,
        RegularJoinInput right,
        BulkJoinKind kind,
        List<Boolean> filterNulls,
        RowPairCondition.@Nullable Factory condition,
        JoinUid uid,
        int parallelism) {

    /**
     * Checks the keys.
     *
     * @throws IllegalArgumentException if the inputs have the same name, or not one flag for each
     *     pair of key columns
     */
    public RegularJoinPipeline {
        filterNulls = List.copyOf(filterNulls);
        if (left.name().equals(right.name())) {
            throw new IllegalArgumentException(
                    "Both inputs have the same name: name=%s. Rename one.".formatted(left.name()));
        }
        if (left.keyColumns().size() != filterNulls.size()
                || right.keyColumns().size() != filterNulls.size()) {
            throw new IllegalArgumentException(
                    "Key columns differ in number: left=%s, right=%s, filterNulls=%s"
                            .formatted(left.keyColumns(), right.keyColumns(), filterNulls));
        }
    }

    /**
     * Returns whether columns of these types can be a join key, or identify a row: numbers,
     * booleans, text, bytes, dates, times, timestamps and decimals.
     *
     * @param columns indexes of the columns
     */
    public static boolean supportsKey(RowType type, List<Integer> columns) {
        return columns.stream().allMatch(column -> RowKey.supports(type.getTypeAt(column)));
    }

    /** Returns the type of the results. */
    public RowType resultType() {
        if (!kind.returnsPairs()) {
            return left.type();
        }
        return JoinedFields.of(
                List.of(left.type(), right.type()),
                List.of(kind.keepsUnmatched(JoinSide.RIGHT), kind.keepsUnmatched(JoinSide.LEFT)));
    }

    private RegularJoinInput input(JoinSide side) {
        return side == JoinSide.LEFT ? left : right;
    }

    /**
     * Adds the operators to the environment.
     *
     * @return the join, of type {@code InternalTypeInfo}
     * @throws IllegalArgumentException if the key types of the inputs cannot be compared, or a
     *     column of a key or an identity has a type without support
     */
    public Transformation<RowData> build() {
        RegularJoinTopology topology = new RegularJoinTopology(env, config, uid, parallelism);
        RowKey leftKey = RowKey.of(left.type(), left.keyColumns(), filterNulls);
        RowKey rightKey = RowKey.of(right.type(), right.keyColumns(), filterNulls);
        StoredRowLayout leftRows = layout(JoinSide.LEFT, leftKey.alignedWith(rightKey));
        StoredRowLayout rightRows = layout(JoinSide.RIGHT, rightKey.alignedWith(leftKey));
        SymmetricJoinSpec spec =
                new SymmetricJoinSpec(
                        leftRows.input(left.name(), left.timeToLiveMs()),
                        rightRows.input(right.name(), right.timeToLiveMs()),
                        kind);
        RowType leftType = left.type();
        RowType rightType = right.type();
        TwoInputPlan plan =
                new TwoInputPlan(
                        spec, condition, leftType.getFieldCount(), rightType.getFieldCount());
        List<RowType> types =
                kind.returnsPairs() ? List.of(leftType, rightType) : List.of(leftType);
        return topology.join(
                List.of(
                        pack(topology, JoinSide.LEFT, leftRows),
                        pack(topology, JoinSide.RIGHT, rightRows)),
                topology.settings(plan, List.of(leftRows.description(), rightRows.description())),
                rows -> new JoinedRowEmitter(types),
                InternalTypeInfo.of(resultType()));
    }

    private StoredRowLayout layout(JoinSide side, RowKey key) {
        return input(side).layout(key, kind.keepsUnmatched(side));
    }

    private Transformation<Chunk> pack(
            RegularJoinTopology topology, JoinSide side, StoredRowLayout rows) {
        return input(side)
                .pack(
                        env,
                        topology,
                        side.ordinal(),
                        side == JoinSide.LEFT ? "left" : "right",
                        rows);
    }
}
