// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.apache.flink.types.RowUtils;

/** Assembles Rows whose fields have positions and names. */
final class RowAssembler implements RecordAssembler<Row> {

    private final FieldReader[] readers;
    private final List<FieldReader> loading;
    private final LinkedHashMap<String, Integer> positionByName = new LinkedHashMap<>();

    RowAssembler(JoinSpec spec, List<OutputField> fields) {
        this.readers =
                fields.stream()
                        .map(field -> new FieldReader(spec, field))
                        .toArray(FieldReader[]::new);
        this.loading = FieldReader.loading(readers);
        for (int i = 0; i < fields.size(); i++) {
            positionByName.put(fields.get(i).name(), i);
        }
    }

    @Override
    public void bind(ResultBatch batch) {
        for (FieldReader reader : readers) {
            reader.bind(batch);
        }
    }

    @Override
    public void load(int fromRow, int toRow) {
        for (FieldReader reader : loading) {
            reader.load(fromRow, toRow);
        }
    }

    @Override
    public Row assemble(int row, int probeRow) throws IOException {
        Object[] values = new Object[readers.length];
        for (int i = 0; i < readers.length; i++) {
            values[i] = readers[i].value(row, probeRow);
        }
        return RowUtils.createRowWithNamedPositions(RowKind.INSERT, values, positionByName);
    }
}
