// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.plan;

import io.github.gpujoin.sql.physical.StreamPhysicalGpuStarJoin;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.Calc;
import org.apache.calcite.rel.core.Exchange;
import org.apache.calcite.rel.core.Union;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalRel;
import org.apache.flink.table.planner.plan.utils.ChangelogPlanUtils;

/** Finds out which nodes of a plan only insert rows. */
final class InsertedRows {

    private InsertedRows() {}

    /**
     * Whether a node emits nothing but insertions. Flink inferred the changelog mode of a left
     * outer join before it became a star join, which retracts no row, so the mode of such a node
     * and of those behind it has more kinds of change than they emit.
     */
    static boolean areAll(RelNode rel) {
        return rel instanceof StreamPhysicalGpuStarJoin
                || ChangelogPlanUtils.isInsertOnly((StreamPhysicalRel) rel)
                || passesKindsOfChange(rel)
                        && rel.getInputs().stream().allMatch(InsertedRows::areAll);
    }

    private static boolean passesKindsOfChange(RelNode rel) {
        return rel instanceof Calc || rel instanceof Exchange || rel instanceof Union;
    }
}
