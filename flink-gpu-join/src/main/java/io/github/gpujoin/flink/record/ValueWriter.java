// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import io.github.gpujoin.core.layout.ChunkBuilder;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.jspecify.annotations.Nullable;

/** Writes values that a getter returns as objects. Not thread-safe. */
final class ValueWriter<T> implements ColumnWriter<T> {

    private final int column;
    private final RecordField field;
    private final RecordShape.Getter<T> getter;
    private final @Nullable TypeSerializer<Object> serializer;
    private final DataOutputSerializer scratch = new DataOutputSerializer(64);

    @SuppressWarnings("unchecked")
    ValueWriter(int column, RecordField field, RecordShape.Getter<T> getter) {
        this.column = column;
        this.field = field;
        this.getter = getter;
        this.serializer =
                field.serializer() == null
                        ? null
                        : (TypeSerializer<Object>) field.serializer().duplicate();
    }

    @Override
    public void write(T record, ChunkBuilder target) throws IOException {
        Object value = getter.get(record);
        try {
            if (!field.nullable()) {
                putFixed(value, target);
            } else if (value == null) {
                target.addNull();
            } else {
                addVariableWidth(value, target);
            }
        } catch (ClassCastException e) {
            throw otherType(field, value, e);
        }
    }

    static IllegalArgumentException otherType(
            RecordField field, Object value, ClassCastException cause) {
        return new IllegalArgumentException(
                "Value of another type than its field: field=%s, type=%s, class=%s.\nCorrect the type information of the stream, or convert the value."
                        .formatted(field.name(), field.type(), value.getClass().getName()),
                cause);
    }

    private void putFixed(Object value, ChunkBuilder target) {
        FieldKind kind = field.kind();
        switch (kind) {
            case LONG -> target.putLong(column, (Long) value);
            case DOUBLE -> target.putDouble(column, (Double) value);
            default -> target.putInteger(column, FieldBits.of(value, kind));
        }
    }

    private void addVariableWidth(Object value, ChunkBuilder target) throws IOException {
        FieldKind kind = field.kind();
        switch (kind) {
            case LONG -> target.addLong((Long) value);
            case DOUBLE -> target.addLong(Double.doubleToRawLongBits((Double) value));
            case STRING -> target.addString((String) value);
            case BYTES -> target.addBytes((byte[]) value, 0, ((byte[]) value).length);
            case SERIALIZED -> {
                scratch.clear();
                serializer.serialize(value, scratch);
                target.addBytes(scratch.getSharedBuffer(), 0, scratch.length());
            }
            default -> target.addInteger(kind.columnType().widthBytes(), FieldBits.of(value, kind));
        }
    }
}
