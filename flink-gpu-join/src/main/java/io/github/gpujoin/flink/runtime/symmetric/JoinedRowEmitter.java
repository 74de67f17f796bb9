// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.symmetric;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.symmetric.SymmetricBatch;
import io.github.gpujoin.flink.emit.ConcatenatedRows;
import java.util.List;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.binary.BinaryRowData;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.types.RowKind;
import org.jspecify.annotations.Nullable;

/** Emits each result as a new binary row: the columns of some inputs, in order. */
public final class JoinedRowEmitter implements SymmetricResultEmitter<RowData> {

    private static final RowKind[] KINDS = RowKind.values();

    private final @Nullable ConcatenatedRows concatenated;
    private final StoredRows[] stored;
    private final @Nullable BinaryRowData[] rows;
    private final StreamRecord<RowData> element = new StreamRecord<>(null);

    /**
     * @param types of the rows of the inputs whose columns are results: all inputs, or the first
     */
    public JoinedRowEmitter(List<RowType> types) {
        this.concatenated = types.size() == 1 ? null : new ConcatenatedRows(types);
        this.stored =
                types.stream()
                        .map(type -> new StoredRows(type.getFieldCount()))
                        .toArray(StoredRows[]::new);
        this.rows = new BinaryRowData[types.size()];
    }

    @Override
    public void emit(SymmetricBatch batch, Output<StreamRecord<RowData>> output) {
        int count = batch.resultCount();
        for (int result = 0; result < count; result++) {
            for (int input = 0; input < rows.length; input++) {
                Chunk chunk = batch.chunk(input, result);
                rows[input] =
                        chunk == null ? null : stored[input].at(chunk, batch.row(input, result));
            }
            BinaryRowData row = concatenated == null ? rows[0].copy() : concatenated.join(rows);
            row.setRowKind(KINDS[batch.kind(result).code()]);
            output.collect(element.replace(row));
        }
    }

    @Override
    public void flush(Output<StreamRecord<RowData>> output) {
        // No result is kept.
    }
}
