// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.exec;

import io.github.gpujoin.flink.plan.TableInput;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.table.data.RowData;
import org.apache.flink.types.RowKind;

/**
 * The effect of a change on the row of its key. A class of its own: a lambda would make
 * TaskManagers load the class around it, and with it the planner.
 */
final class ChangeOfRow implements MapFunction<RowData, RowKind> {

    private static final long serialVersionUID = 1L;

    @Override
    public RowKind map(RowData row) {
        return TableInput.changeOf(row);
    }
}
