// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A column and where its values come from: an offset in the record, a reader of integers, or a
 * writer.
 *
 * @param offset of the field, -1 if values are not copied from an offset
 * @param integer reads a fixed-width integer that may be null, which no column can hold; else null
 * @param writer of all other values; else null
 */
record ColumnSlot<T>(
        int column,
        RecordField field,
        long offset,
        @Nullable IntegerReader<T> integer,
        @Nullable ColumnWriter<T> writer) {

    /** Whether values are copied from an offset in the record. */
    boolean isRaw() {
        return offset >= 0;
    }

    /**
     * Returns one for each column of the layout; null for those that are not of the record.
     *
     * @param keys of the same layout
     */
    static <T> List<ColumnSlot<T>> of(RecordLayout<T> layout, ComputedKeys<T> keys) {
        boolean ofFields = layout.schema().indexOf(RecordLayout.RECORD) < 0;
        RecordShape<T> shape = ofFields ? RecordShape.of(layout.type()) : null;
        List<ColumnSlot<T>> slots = new ArrayList<>();
        for (int column = 0; column < layout.schema().size(); column++) {
            RecordField field = layout.fields().get(column);
            ColumnSlot<T> key = ofKey(keys, column, field);
            slots.add(key == null ? of(shape, column, field) : key);
        }
        return slots;
    }

    private static <T> @Nullable ColumnSlot<T> ofKey(
            ComputedKeys<T> keys, int column, RecordField field) {
        int integer = keys.indexOfInteger(field.name());
        if (integer >= 0) {
            return new ColumnSlot<>(column, field, -1, keys.integerOf(integer), null);
        }
        int bytes = keys.indexOfBytes(field.name());
        if (bytes >= 0) {
            return new ColumnSlot<>(column, field, -1, null, keys.bytesOf(bytes));
        }
        return field.name().equals(KeyColumn.ROW_NAME)
                ? new ColumnSlot<>(
                        column, field, -1, null, (record, row) -> row.putLong(column, keys.row()))
                : null;
    }

    /**
     * @param shape null if the field is the whole record
     */
    private static <T> @Nullable ColumnSlot<T> of(
            @Nullable RecordShape<T> shape, int column, RecordField field) {
        return switch (field.name()) {
            case RecordLayout.TIMESTAMP,
                    RecordLayout.NULL_KEYS,
                    RecordLayout.NUMBER,
                    RecordLayout.CHANGE ->
                    null;
            case RecordLayout.RECORD ->
                    new ColumnSlot<>(
                            column,
                            field,
                            -1,
                            null,
                            new ValueWriter<>(column, field, record -> record));
            default -> ofField(shape, column, field);
        };
    }

    private static <T> ColumnSlot<T> ofField(RecordShape<T> shape, int column, RecordField field) {
        String name = field.name();
        long offset = shape.isPrimitive(name) ? shape.offsetOf(name) : -1;
        if (offset >= 0) {
            return new ColumnSlot<>(column, field, offset, null, null);
        }
        return !field.nullable() && field.kind().isKey()
                ? new ColumnSlot<>(column, field, -1, shape.integerReader(field), null)
                : new ColumnSlot<>(column, field, -1, null, shape.writer(column, field));
    }
}
