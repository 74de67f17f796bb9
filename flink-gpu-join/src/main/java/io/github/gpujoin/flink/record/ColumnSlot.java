// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.jspecify.annotations.Nullable;

/**
 * A column and where its values come from: a field offset or, where that is -1, a getter.
 *
 * @param serializer of {@link FieldKind#SERIALIZED} fields, for one thread; else null
 */
record ColumnSlot<T>(
        int column,
        RecordField field,
        long offset,
        RecordShape.Getter<T> getter,
        TypeSerializer<Object> serializer) {

    /** Whether values are copied from an offset in the record. */
    boolean isRaw() {
        return offset >= 0;
    }

    /**
     * One for each column of the layout; null for those that are not of the record.
     *
     * @param keys of the same layout
     */
    static <T> List<ColumnSlot<T>> of(RecordLayout<T> layout, ComputedKeys<T> keys) {
        boolean ofFields = layout.schema().indexOf(RecordLayout.RECORD) < 0;
        RecordShape<T> shape = ofFields ? RecordShape.of(layout.type()) : null;
        List<ColumnSlot<T>> slots = new ArrayList<>();
        for (int column = 0; column < layout.schema().size(); column++) {
            RecordField field = layout.fields().get(column);
            RecordShape.Getter<T> key = keys.getter(field.name());
            if (key != null) {
                slots.add(new ColumnSlot<>(column, field, -1, key, null));
                continue;
            }
            slots.add(of(shape, column, field));
        }
        return slots;
    }

    /**
     * @param shape null if the field is the whole record
     */
    static <T> @Nullable ColumnSlot<T> of(
            @Nullable RecordShape<T> shape, int column, RecordField field) {
        return switch (field.name()) {
            case RecordLayout.TIMESTAMP,
                    RecordLayout.NULL_KEYS,
                    RecordLayout.NUMBER,
                    RecordLayout.CHANGE ->
                    null;
            case RecordLayout.RECORD ->
                    new ColumnSlot<>(column, field, -1, record -> record, copy(field));
            default -> ofField(shape, column, field);
        };
    }

    private static <T> ColumnSlot<T> ofField(RecordShape<T> shape, int column, RecordField field) {
        String name = field.name();
        long offset = shape.isPrimitive(name) ? shape.offsetOf(name) : -1;
        RecordShape.Getter<T> getter = offset < 0 ? shape.getter(name) : null;
        return new ColumnSlot<>(column, field, offset, getter, copy(field));
    }

    @SuppressWarnings("unchecked")
    private static @Nullable TypeSerializer<Object> copy(RecordField field) {
        return field.serializer() == null
                ? null
                : (TypeSerializer<Object>) field.serializer().duplicate();
    }
}
