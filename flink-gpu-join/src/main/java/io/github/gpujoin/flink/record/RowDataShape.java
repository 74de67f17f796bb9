// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.conversion.DataStructureConverter;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.LogicalTypeFamily;
import org.apache.flink.types.RowKind;

/** Flink's internal rows, which tables are made of. */
final class RowDataShape<T> extends RecordShape<T> {

    RowDataShape(TypeInformation<T> type) {
        super(type, RowDataFields.names(type));
    }

    private LogicalType logicalType(int index) {
        return RowDataFields.rowType(type()).getTypeAt(index);
    }

    @Override
    TypeInformation<?> typeAt(int index, String name) {
        return RowDataFields.typeOf(logicalType(index));
    }

    @Override
    Getter<T> getterAt(int index, String name) {
        RowData.FieldGetter field = RowData.createFieldGetter(logicalType(index), index);
        DataStructureConverter<Object, Object> converter =
                RowDataFields.converter(logicalType(index));
        return record -> converter.toExternalOrNull(field.getFieldOrNull((RowData) record));
    }

    /** Texts as they are in the row, whose bytes a key reads without decoding them. */
    @Override
    Getter<T> keyGetter(String name) {
        int index = indexOf(name);
        LogicalType type = logicalType(index);
        if (!type.is(LogicalTypeFamily.CHARACTER_STRING)) {
            return super.keyGetter(name);
        }
        RowData.FieldGetter field = RowData.createFieldGetter(type, index);
        return record -> field.getFieldOrNull((RowData) record);
    }

    @Override
    IntegerReader<T> integerReader(RecordField field) {
        int index = indexOf(field.name());
        FieldKind kind = field.kind();
        return new IntegerReader<>() {
            @Override
            public boolean isNull(T record) {
                return ((RowData) record).isNullAt(index);
            }

            @Override
            public long read(T record) {
                return RowDataFields.bits((RowData) record, index, kind);
            }
        };
    }

    /** Values as they are in the row; times and short decimals without objects of the column. */
    @Override
    ColumnWriter<T> writer(int column, RecordField field) {
        int index = indexOf(field.name());
        FieldKind kind = field.kind();
        if (kind == FieldKind.SERIALIZED) {
            return RowDataValueWriter.isFor(logicalType(index))
                    ? new RowDataValueWriter<>(index, field.name(), logicalType(index))
                    : super.writer(column, field);
        }
        return (record, target) -> {
            RowData row = (RowData) record;
            if (row.isNullAt(index)) {
                target.addNull();
            } else if (kind == FieldKind.STRING) {
                RowDataFields.addText(row.getString(index), target);
            } else if (kind == FieldKind.BYTES) {
                byte[] bytes = row.getBinary(index);
                target.addBytes(bytes, 0, bytes.length);
            } else {
                int widthBytes = kind.columnType().widthBytes();
                target.addInteger(widthBytes, RowDataFields.bits(row, index, kind));
            }
        };
    }

    @Override
    RowKind kindOf(T record) {
        return ((RowData) record).getRowKind();
    }

    @Override
    String describeAt(int index, String name) {
        return logicalType(index).asSummaryString();
    }

    @Override
    @SuppressWarnings("unchecked")
    public T reordered(T record, int[] positions) {
        RowData row = (RowData) record;
        GenericRowData result = new GenericRowData(row.getRowKind(), positions.length);
        for (int i = 0; i < positions.length; i++) {
            LogicalType type = logicalType(i);
            result.setField(i, RowData.createFieldGetter(type, positions[i]).getFieldOrNull(row));
        }
        return (T) result;
    }
}
