package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.flink.pack.RowDataFields;
import java.io.IOException;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.conversion.DataStructureConverter;
import org.apache.flink.table.types.logical.RowType;

/** Makes Flink's internal rows; fields that are no column of the result are null. */
final class RowDataAssembler<T> implements RecordAssembler<T> {

    private final FieldReader[] readers;
    private final DataStructureConverter<Object, Object>[] converters;
    private final int[] positions;
    private final int arity;

    @SuppressWarnings("unchecked")
    RowDataAssembler(ResultColumns columns, TypeInformation<T> type) {
        RowType rowType = RowDataFields.rowType(type);
        int count = columns.fields().size();
        this.arity = rowType.getFieldCount();
        this.readers = new FieldReader[count];
        this.converters = new DataStructureConverter[count];
        this.positions = new int[count];
        for (int i = 0; i < count; i++) {
            OutputField field = columns.fields().get(i);
            positions[i] = rowType.getFieldIndex(field.name());
            readers[i] = new FieldReader(columns.spec(), field);
            converters[i] = RowDataFields.converter(rowType.getTypeAt(positions[i]));
        }
    }

    @Override
    public void bind(ResultBatch batch) {
        for (FieldReader reader : readers) {
            reader.bind(batch);
        }
    }

    @Override
    @SuppressWarnings("unchecked")
    public T assemble(int row, int probeRow) throws IOException {
        GenericRowData result = new GenericRowData(arity);
        for (int i = 0; i < readers.length; i++) {
            Object value = readers[i].value(row, probeRow);
            result.setField(positions[i], converters[i].toInternalOrNull(value));
        }
        return (T) result;
    }
}
