// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.plan;

import org.apache.calcite.plan.RelOptTable;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.TableScan;
import org.apache.calcite.rel.core.Values;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.connector.source.ScanTableSource;
import org.apache.flink.table.planner.plan.schema.IntermediateRelTable;
import org.apache.flink.table.planner.plan.schema.TableSourceTable;
import org.apache.flink.table.runtime.connector.source.ScanRuntimeProviderContext;

/** Finds out which nodes of a plan of streaming mode emit a last row. */
final class BoundedRows {

    private BoundedRows() {}

    /** Whether all sources below a node are bounded. */
    static boolean isBounded(RelNode rel) {
        if (rel instanceof TableScan scan) {
            return isBounded(scan.getTable());
        }
        return rel.getInputs().isEmpty()
                ? rel instanceof Values
                : rel.getInputs().stream().allMatch(BoundedRows::isBounded);
    }

    /** Whether the source of a table is bounded. */
    static boolean isBounded(RelOptTable table) {
        IntermediateRelTable part = table.unwrap(IntermediateRelTable.class);
        if (part != null) {
            // A part of the plan that several statements read is optimized before them.
            return isBounded(part.relNode());
        }
        TableSourceTable source = table.unwrap(TableSourceTable.class);
        return source != null && isBounded(source.tableSource());
    }

    private static boolean isBounded(DynamicTableSource source) {
        return source instanceof ScanTableSource scan
                && scan.getScanRuntimeProvider(ScanRuntimeProviderContext.INSTANCE).isBounded();
    }
}
