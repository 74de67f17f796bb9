// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import org.apache.flink.api.common.functions.JoinFunction;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.utils.JoinedRowData;

/** Joins a probe row and a build row to one row, in this order. A missing row becomes nulls. */
public final class JoinedTableRows implements JoinFunction<RowData, RowData, RowData> {

    private static final long serialVersionUID = 1L;

    private final int buildColumns;
    private final int probeColumns;

    public JoinedTableRows(int buildColumns, int probeColumns) {
        this.buildColumns = buildColumns;
        this.probeColumns = probeColumns;
    }

    @Override
    public RowData join(RowData build, RowData probe) {
        return new JoinedRowData(orNulls(probe, probeColumns), orNulls(build, buildColumns));
    }

    private static RowData orNulls(RowData row, int columns) {
        return row == null ? new GenericRowData(columns) : row;
    }
}
