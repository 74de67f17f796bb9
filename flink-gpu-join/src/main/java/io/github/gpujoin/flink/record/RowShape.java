// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import java.util.List;
import java.util.Set;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.java.typeutils.RowTypeInfo;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;

/** Rows, read by name where they have names, else by position. */
final class RowShape<T> extends RecordShape<T> {

    private final RowTypeInfo row;

    /**
     * @param type a {@link RowTypeInfo}
     */
    RowShape(TypeInformation<T> type) {
        super(type, List.of(((RowTypeInfo) (TypeInformation<?>) type).getFieldNames()));
        this.row = (RowTypeInfo) (TypeInformation<?>) type;
    }

    @Override
    TypeInformation<?> typeAt(int index, String name) {
        return row.getTypeAt(index);
    }

    @Override
    Getter<T> getterAt(int index, String name) {
        return record -> field((Row) record, index, name);
    }

    private static Object field(Row row, int index, String name) {
        return row.getFieldNames(false) == null ? row.getField(index) : row.getField(name);
    }

    @Override
    RowKind kindOf(T record) {
        return ((Row) record).getKind();
    }

    @Override
    @SuppressWarnings("unchecked")
    public T reordered(T record, int[] positions) {
        Row row = (Row) record;
        Set<String> names = row.getFieldNames(false);
        Row result = new Row(row.getKind(), positions.length);
        for (int i = 0; i < positions.length; i++) {
            result.setField(
                    i, names == null ? row.getField(positions[i]) : row.getField(names().get(i)));
        }
        return (T) result;
    }
}
