// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.engine.GroupRows;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.flink.record.FieldKind;
import java.util.LinkedHashMap;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.apache.flink.types.RowUtils;

/** Emits each group as a Row without event time: its facts may be of any. */
final class GroupEmitter implements ResultEmitter<Row> {

    private final GroupFields fields;
    private final LinkedHashMap<String, Integer> positionByName;

    GroupEmitter(GroupFields fields) {
        this.fields = fields;
        this.positionByName = fields.positionByName();
    }

    @Override
    public void emit(ResultBatch batch, int fromRow, int toRow, Output<StreamRecord<Row>> output) {
        throw new UnsupportedOperationException("Emitter of groups received rows: batch=" + batch);
    }

    @Override
    public void emit(GroupRows groups, Output<StreamRecord<Row>> output) {
        for (int row = 0; row < groups.rowCount(); row++) {
            output.collect(new StreamRecord<>(record(groups, row)));
        }
    }

    private Row record(GroupRows groups, int row) {
        Object[] values = new Object[positionByName.size()];
        int columns = fields.columns().size();
        for (int c = 0; c < columns; c++) {
            FieldKind kind = fields.columns().get(c).kind();
            values[c] =
                    kind == FieldKind.STRING
                            ? groups.groupText(row, c)
                            : kind.ofInteger(groups.groupValue(row, c));
        }
        for (int a = columns; a < values.length; a++) {
            values[a] = groups.aggregate(row, a - columns);
        }
        return RowUtils.createRowWithNamedPositions(RowKind.INSERT, values, positionByName);
    }
}
