// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import java.util.List;
import java.util.stream.Collectors;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.api.java.typeutils.RowTypeInfo;
import org.apache.flink.types.Row;
import org.jspecify.annotations.Nullable;

/** Columns of a record as a key, in the order in which they are given. */
public final class ColumnsKey<T> implements KeySelector<T, Row> {

    private static final long serialVersionUID = 1L;

    private final TypeInformation<T> type;
    private final List<String> columns;

    /** Created on first use, because it is not serializable. */
    private transient @Nullable List<RecordShape.Getter<T>> getters;

    /**
     * @param type of records with these columns
     */
    public ColumnsKey(TypeInformation<T> type, List<String> columns) {
        this.type = type;
        this.columns = List.copyOf(columns);
    }

    /** Returns the columns in the order of the key. */
    public List<String> columns() {
        return columns;
    }

    @Override
    public Row getKey(T record) {
        if (getters == null) {
            RecordShape<T> shape = RecordShape.of(type);
            getters = columns.stream().map(shape::getter).toList();
        }
        Row key = new Row(columns.size());
        for (int i = 0; i < columns.size(); i++) {
            key.setField(i, getters.get(i).get(record));
        }
        return key;
    }

    /**
     * Returns a getter of each part of the key, with which no object for the key is needed.
     *
     * @return null if a column is itself a record, so that its fields are the parts
     */
    @Nullable List<RecordShape.Getter<T>> partGetters() {
        RecordShape<T> shape = RecordShape.of(type);
        boolean nested =
                columns.stream().anyMatch(column -> RecordShape.isRecord(shape.typeOf(column)));
        return nested ? null : columns.stream().map(shape::keyGetter).toList();
    }

    /**
     * @throws IllegalArgumentException if a column does not exist
     */
    public TypeInformation<Row> keyType() {
        RecordShape<T> shape = RecordShape.of(type);
        return new RowTypeInfo(
                columns.stream().map(shape::typeOf).toArray(TypeInformation<?>[]::new));
    }

    /** Returns the columns and their types as a text for messages, such as {@code id Integer}. */
    public String description() {
        RecordShape<T> shape = RecordShape.of(type);
        return columns.stream()
                .map(column -> column + " " + shape.typeOf(column))
                .collect(Collectors.joining(", "));
    }
}
