// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.symmetric;

import io.github.gpujoin.core.symmetric.MatchCondition;
import io.github.gpujoin.core.symmetric.SymmetricInput;
import io.github.gpujoin.core.symmetric.SymmetricJoinSpec;
import java.util.List;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.jspecify.annotations.Nullable;

/**
 * A join of a left and a right input.
 *
 * @param condition that rows with equal keys must meet to match; null for none
 * @param leftColumns number of columns of the left rows that the condition receives
 * @param rightColumns number of columns of the right rows that the condition receives
 */
public record TwoInputPlan(
        SymmetricJoinSpec spec,
        RowPairCondition.@Nullable Factory condition,
        int leftColumns,
        int rightColumns)
        implements SymmetricJoinPlan {

    @Override
    public List<SymmetricInput> inputs() {
        return spec.inputs();
    }

    @Override
    public List<String> labels() {
        return List.of("left", "right");
    }

    @Override
    public String kind() {
        return spec.kind().name();
    }

    @Override
    public Opened open(RuntimeContext context) throws Exception {
        if (condition == null) {
            return opened(MatchCondition.ALWAYS, List.of());
        }
        RowPairCondition rows = condition.open(context);
        return opened(new RowMatchCondition(rows, leftColumns, rightColumns), List.of(rows));
    }

    private Opened opened(MatchCondition matches, List<RowPairCondition> conditions) {
        return new Opened(
                (factory, hostMemory, spillDirectory) ->
                        factory.create(spec, matches, hostMemory, spillDirectory),
                conditions);
    }
}
