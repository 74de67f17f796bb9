// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.exec;

import org.apache.flink.api.common.functions.JoinFunction;
import org.apache.flink.table.data.RowData;
import org.jspecify.annotations.Nullable;

/** Results of semi and anti joins. A class of its own for the reason of {@link ChangeOfRow}. */
final class ProbeRow implements JoinFunction<RowData, RowData, RowData> {

    private static final long serialVersionUID = 1L;

    @Override
    public RowData join(@Nullable RowData build, RowData probe) {
        return probe;
    }
}
