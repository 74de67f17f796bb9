package io.github.gpujoin.flink.pipeline;

import io.github.gpujoin.flink.pack.RecordShape;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.table.data.RowData;
import org.apache.flink.types.Row;

/** Columns of a table's row as a key; integers of any width are longs. */
public final class TableKey implements KeySelector<RowData, Row> {

    private static final long serialVersionUID = 1L;

    private final TypeInformation<RowData> type;
    private final List<String> columns;

    /** Made where it is used. */
    private transient List<RecordShape.Getter<RowData>> getters;

    TableKey(TypeInformation<RowData> type, List<String> columns) {
        this.type = type;
        this.columns = List.copyOf(columns);
    }

    @Override
    public Row getKey(RowData row) {
        if (getters == null) {
            RecordShape<RowData> shape = RecordShape.of(type);
            getters = columns.stream().map(shape::getter).toList();
        }
        Row key = new Row(columns.size());
        for (int i = 0; i < columns.size(); i++) {
            Object value = getters.get(i).get(row);
            boolean isInteger =
                    value instanceof Integer || value instanceof Short || value instanceof Byte;
            key.setField(i, isInteger ? (Object) ((Number) value).longValue() : value);
        }
        return key;
    }
}
