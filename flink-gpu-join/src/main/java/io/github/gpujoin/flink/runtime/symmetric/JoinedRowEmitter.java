// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.symmetric;

import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.symmetric.SymmetricBatch;
import io.github.gpujoin.flink.emit.JoinedTableRows;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.binary.BinaryRowData;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.types.RowKind;
import org.jspecify.annotations.Nullable;

/** Emits each result as a new binary row: the columns of both inputs, or of the left one. */
public final class JoinedRowEmitter implements SymmetricResultEmitter<RowData> {

    private static final RowKind[] KINDS = RowKind.values();

    private final @Nullable JoinedTableRows joined;
    private final StoredRows left;
    private final StoredRows right;
    private final StreamRecord<RowData> element = new StreamRecord<>(null);

    /**
     * @param returnsPairs whether results have the columns of both inputs
     */
    public JoinedRowEmitter(RowType left, RowType right, boolean returnsPairs) {
        this.joined = returnsPairs ? new JoinedTableRows(right, left) : null;
        this.left = new StoredRows(left.getFieldCount());
        this.right = new StoredRows(right.getFieldCount());
    }

    @Override
    public void emit(SymmetricBatch batch, Output<StreamRecord<RowData>> output) {
        int count = batch.resultCount();
        for (int result = 0; result < count; result++) {
            RowData row = row(batch, result);
            row.setRowKind(KINDS[batch.kind(result).code()]);
            output.collect(element.replace(row));
        }
    }

    private RowData row(SymmetricBatch batch, int result) {
        BinaryRowData leftRow = row(left, JoinSide.LEFT, batch, result);
        return joined == null
                ? leftRow.copy()
                : joined.join(row(right, JoinSide.RIGHT, batch, result), leftRow);
    }

    private static @Nullable BinaryRowData row(
            StoredRows rows, JoinSide side, SymmetricBatch batch, int result) {
        Chunk chunk = batch.chunk(side, result);
        return chunk == null ? null : rows.at(chunk, batch.row(side, result));
    }

    @Override
    public void flush(Output<StreamRecord<RowData>> output) {
        // No result is kept.
    }
}
