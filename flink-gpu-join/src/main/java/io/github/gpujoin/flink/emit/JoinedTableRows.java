// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import java.util.List;
import org.apache.flink.api.common.functions.JoinFunction;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.binary.BinaryRowData;
import org.apache.flink.table.runtime.typeutils.RowDataSerializer;
import org.apache.flink.table.types.logical.RowType;
import org.jspecify.annotations.Nullable;

/**
 * Joins a probe row and a build row to one new binary row, in this order. A missing row becomes
 * nulls. Operators behind the join copy a binary row as bytes. They would copy any other row field
 * by field, each of them, unless Flink reuses objects.
 */
public final class JoinedTableRows
        implements JoinFunction<RowData, RowData, RowData>, RecordReader {

    private static final long serialVersionUID = 1L;

    private final RowDataSerializer buildRows;
    private final RowDataSerializer probeRows;
    private final ConcatenatedRows concatenated;
    private transient @Nullable BinaryRowData @Nullable [] pair;

    public JoinedTableRows(RowType build, RowType probe) {
        this.buildRows = new RowDataSerializer(build);
        this.probeRows = new RowDataSerializer(probe);
        this.concatenated = new ConcatenatedRows(List.of(probe, build));
    }

    @Override
    public RowData join(@Nullable RowData build, @Nullable RowData probe) {
        if (pair == null) {
            pair = new BinaryRowData[2];
        }
        pair[0] = probe == null ? null : binary(probe, probeRows);
        pair[1] = build == null ? null : binary(build, buildRows);
        return concatenated.join(pair);
    }

    private static BinaryRowData binary(RowData row, RowDataSerializer rows) {
        BinaryRowData binary = rows.toBinaryRow(row);
        return binary.getSegments().length == 1 ? binary : binary.copy();
    }
}
