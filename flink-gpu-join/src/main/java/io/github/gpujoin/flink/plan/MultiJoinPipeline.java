// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.symmetric.MultiJoinSpec;
import io.github.gpujoin.core.symmetric.SymmetricInput;
import io.github.gpujoin.flink.record.RowKey;
import io.github.gpujoin.flink.record.StoredRowLayout;
import io.github.gpujoin.flink.runtime.symmetric.JoinedRowEmitter;
import io.github.gpujoin.flink.runtime.symmetric.MultiInputPlan;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.RowType;

/**
 * Builds the operators of a join of two or more streams of internal rows by one key: a packer for
 * each input, the exchange by radix partition, and one join, which stores no results of its steps.
 *
 * <p>The result has the columns of all inputs, in order. Its rows have kinds of change as those of
 * Flink's multi-way join, and no timestamps; watermarks are the smallest ones of all inputs.
 *
 * @param env of the job
 * @param config options of the join; those of a query may differ from those of the environment
 * @param inputs the first one, and that of each step. A null in a key column matches nothing.
 * @param leftJoins for each input whether its step is a left join; false for the first one
 * @param steps the condition of each input besides the key; that of the first one is not evaluated
 * @param uid prefix of the uids of the operators
 * @param parallelism of the join
 */
public record MultiJoinPipeline(
        StreamExecutionEnvironment env,
        ReadableConfig config,
        List<RegularJoinInput> inputs,
        List<Boolean> leftJoins,
        List<MultiInputPlan.Step> steps,
        JoinUid uid,
        int parallelism) {

    /**
     * Copies the lists and checks the keys.
     *
     * @throws IllegalArgumentException if keys differ in their number of columns, or not one step
     *     belongs to each input
     */
    public MultiJoinPipeline {
        inputs = List.copyOf(inputs);
        leftJoins = List.copyOf(leftJoins);
        steps = List.copyOf(steps);
        List<List<Integer>> keys = inputs.stream().map(RegularJoinInput::keyColumns).toList();
        if (keys.stream().mapToInt(List::size).distinct().count() != 1) {
            throw new IllegalArgumentException("Key columns differ in number: keys=" + keys);
        }
        if (steps.size() != inputs.size()) {
            throw new IllegalArgumentException(
                    "Steps contradict the inputs: inputs=%d, steps=%d"
                            .formatted(inputs.size(), steps.size()));
        }
    }

    /** Returns the type of the results. */
    public RowType resultType() {
        return JoinedFields.of(inputs.stream().map(RegularJoinInput::type).toList(), leftJoins);
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
        List<StoredRowLayout> layouts = layouts();
        List<SymmetricInput> joined = new ArrayList<>();
        for (int i = 0; i < inputs.size(); i++) {
            RegularJoinInput input = inputs.get(i);
            joined.add(layouts.get(i).input(input.name(), input.timeToLiveMs()));
        }
        List<RowType> types = inputs.stream().map(RegularJoinInput::type).toList();
        MultiInputPlan plan =
                new MultiInputPlan(
                        new MultiJoinSpec(joined, leftJoins),
                        steps,
                        types.stream().map(RowType::getFieldCount).toList());
        List<Transformation<Chunk>> packed = new ArrayList<>();
        for (int i = 0; i < inputs.size(); i++) {
            packed.add(inputs.get(i).pack(env, topology, i, plan.labels().get(i), layouts.get(i)));
        }
        return topology.join(
                packed,
                topology.settings(
                        plan, layouts.stream().map(StoredRowLayout::description).toList()),
                rows -> new JoinedRowEmitter(types),
                InternalTypeInfo.of(resultType()));
    }

    /** Rows of the first input are results without a match if all steps are left joins. */
    private List<StoredRowLayout> layouts() {
        List<RowKey> keys =
                inputs.stream()
                        .map(
                                input ->
                                        RowKey.of(
                                                input.type(),
                                                input.keyColumns(),
                                                Collections.nCopies(
                                                        input.keyColumns().size(), true)))
                        .toList();
        boolean keepsAll = !leftJoins.subList(1, leftJoins.size()).contains(false);
        List<StoredRowLayout> layouts = new ArrayList<>();
        for (int i = 0; i < inputs.size(); i++) {
            RowKey aligned = keys.get(i);
            for (RowKey other : keys) {
                aligned = aligned.alignedWith(other);
            }
            layouts.add(inputs.get(i).layout(aligned, i == 0 && keepsAll));
        }
        return layouts;
    }
}
