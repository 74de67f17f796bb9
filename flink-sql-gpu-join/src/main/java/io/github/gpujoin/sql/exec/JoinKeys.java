// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.exec;

import io.github.gpujoin.flink.api.Dimension;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.planner.plan.nodes.exec.spec.JoinSpec;

/**
 * Columns of both sides that must be equal, in pairs.
 *
 * @param isNullSafe whether nulls are equal ({@code IS NOT DISTINCT FROM}), in all pairs
 */
public record JoinKeys(List<Integer> left, List<Integer> right, boolean isNullSafe) {

    /** Returns the keys of a join whose pairs are null-safe all or none. */
    public static JoinKeys of(JoinSpec spec) {
        boolean nullSafe = spec.getFilterNulls().length > 0 && !spec.getFilterNulls()[0];
        return new JoinKeys(list(spec.getLeftKeys()), list(spec.getRightKeys()), nullSafe);
    }

    /** Returns the same pairs with the sides exchanged. */
    JoinKeys reversed() {
        return new JoinKeys(right, left, isNullSafe);
    }

    /** Sets the keys of a dimension, which is the right side; the left one has the facts. */
    void describe(Dimension<RowData> described, JoinSide facts, JoinSide dimension) {
        for (int i = 0; i < left.size(); i++) {
            described.on(facts.column(left.get(i)), dimension.column(right.get(i)));
        }
        if (isNullSafe) {
            described.nullSafe();
        }
    }

    private static List<Integer> list(int[] columns) {
        List<Integer> list = new ArrayList<>();
        for (int column : columns) {
            list.add(column);
        }
        return List.copyOf(list);
    }
}
