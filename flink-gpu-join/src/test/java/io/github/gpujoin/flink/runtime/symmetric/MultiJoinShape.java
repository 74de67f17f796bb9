// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.symmetric;

import io.github.gpujoin.core.symmetric.MultiJoinSpec;
import io.github.gpujoin.core.symmetric.RowIdentity;
import io.github.gpujoin.core.symmetric.SymmetricInput;
import io.github.gpujoin.core.symmetric.SymmetricJoinFactory;
import io.github.gpujoin.flink.engine.SymmetricJoinOpener;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;

/**
 * A multi-way join.
 *
 * @param leftJoins for each input whether its step is a left join
 * @param comparedInputs for each input the one before it whose key its step compares
 * @param hasConditions for each input whether its step compares ids too
 */
record MultiJoinShape(
        List<RowIdentity> identities,
        List<Boolean> leftJoins,
        List<Integer> comparedInputs,
        List<Boolean> hasConditions,
        boolean hasTextKeys,
        List<SymmetricJoinFactory> engines)
        implements JoinShape {

    /** Accepts rows whose id is not much smaller than that of the compared input. */
    static boolean isAccepted(RowData left, int comparedInput, RowData right) {
        int id = 3 * comparedInput + ID;
        return !left.isNullAt(id) && left.getInt(id) <= right.getInt(ID) + 1;
    }

    int size() {
        return identities.size();
    }

    @Override
    public RowIdentity identity(int input) {
        return identities.get(input);
    }

    @Override
    public boolean keepsNullKeys(int input) {
        return input == 0 && !leftJoins.subList(1, size()).contains(false);
    }

    @Override
    public RowType resultType() {
        List<LogicalType> columns = new ArrayList<>();
        identities.forEach(identity -> columns.addAll(type().getChildren()));
        return RowType.of(columns.toArray(LogicalType[]::new));
    }

    @Override
    public SymmetricJoinOperatorFactory<RowData> factory() {
        List<SymmetricInput> inputs =
                IntStream.range(0, size())
                        .mapToObj(i -> layout(i).input("input" + i, SymmetricInput.FOREVER))
                        .toList();
        List<MultiInputPlan.Step> steps = new ArrayList<>();
        for (int i = 0; i < size(); i++) {
            int compared = comparedInputs.get(i);
            steps.add(
                    new MultiInputPlan.Step(
                            leftJoins.get(compared) ? List.of(compared) : List.of(),
                            hasConditions.get(i)
                                    ? context -> (left, right) -> isAccepted(left, compared, right)
                                    : null));
        }
        List<RowType> types = Collections.nCopies(size(), type());
        return new SymmetricJoinOperatorFactory<>(
                new SymmetricJoinSettings(
                        new MultiInputPlan(
                                new MultiJoinSpec(inputs, leftJoins),
                                steps,
                                Collections.nCopies(size(), 3)),
                        new SymmetricJoinOpener(engines, Long.MAX_VALUE),
                        0,
                        PARTITIONS,
                        Map.of("kind", "multi-way")),
                rows -> new JoinedRowEmitter(types));
    }
}
