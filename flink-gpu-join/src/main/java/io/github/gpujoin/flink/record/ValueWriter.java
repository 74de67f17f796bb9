// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import io.github.gpujoin.core.layout.ChunkBuilder;
import java.io.IOException;
import org.apache.flink.core.memory.DataOutputSerializer;

/** Writes values that are objects into columns of a row. Not thread-safe. */
final class ValueWriter {

    private final DataOutputSerializer scratch = new DataOutputSerializer(256);

    /**
     * @param value of the slot's field; null only where its column is nullable
     * @throws IllegalArgumentException where it is of another type
     */
    void write(Object value, ColumnSlot<?> slot, ChunkBuilder target) throws IOException {
        try {
            if (!slot.field().nullable()) {
                putFixed(value, slot, target);
            } else if (value == null) {
                target.addNull();
            } else {
                addVariableWidth(value, slot, target);
            }
        } catch (ClassCastException e) {
            throw new IllegalArgumentException(
                    "Value of another type than its field: field=%s, type=%s, class=%s.\nCorrect the type information of the stream, or convert the value."
                            .formatted(
                                    slot.field().name(),
                                    slot.field().type(),
                                    value.getClass().getName()),
                    e);
        }
    }

    private static void putFixed(Object value, ColumnSlot<?> slot, ChunkBuilder target) {
        FieldKind kind = slot.field().kind();
        switch (kind) {
            case LONG -> target.putLong(slot.column(), (Long) value);
            case DOUBLE -> target.putDouble(slot.column(), (Double) value);
            default -> target.putInteger(slot.column(), FieldBits.of(value, kind));
        }
    }

    private void addVariableWidth(Object value, ColumnSlot<?> slot, ChunkBuilder target)
            throws IOException {
        FieldKind kind = slot.field().kind();
        switch (kind) {
            case LONG -> target.addLong((Long) value);
            case DOUBLE -> target.addLong(Double.doubleToRawLongBits((Double) value));
            case STRING -> target.addString((String) value);
            case BYTES -> {
                if (value instanceof KeyBytes key) {
                    target.addBytes(key.array(), 0, key.length());
                } else {
                    target.addBytes((byte[]) value, 0, ((byte[]) value).length);
                }
            }
            case SERIALIZED -> {
                scratch.clear();
                slot.serializer().serialize(value, scratch);
                target.addBytes(scratch.getSharedBuffer(), 0, scratch.length());
            }
            default -> target.addInteger(kind.columnType().widthBytes(), FieldBits.of(value, kind));
        }
    }
}
