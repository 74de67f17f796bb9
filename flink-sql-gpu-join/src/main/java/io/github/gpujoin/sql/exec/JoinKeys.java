// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.exec;

import java.util.ArrayList;
import java.util.List;
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

    private static List<Integer> list(int[] columns) {
        List<Integer> list = new ArrayList<>();
        for (int column : columns) {
            list.add(column);
        }
        return List.copyOf(list);
    }
}
