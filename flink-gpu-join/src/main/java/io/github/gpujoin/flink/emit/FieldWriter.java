// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.flink.record.FieldKind;
import java.lang.reflect.Field;

/** Sets one field of an object at its offset, or one argument of a record's constructor. */
final class FieldWriter {

    private enum Target {
        /** Element of the {@code Object[]} of constructor arguments. */
        ARGUMENT,
        REFERENCE,
        PRIMITIVE
    }

    private final Target target;
    private final long offset;
    private final FieldKind kind;
    private final Field field;

    private FieldWriter(Target target, long offset, FieldKind kind, Field field) {
        this.target = target;
        this.offset = offset;
        this.kind = kind;
        this.field = field;
    }

    static FieldWriter ofField(Field field, FieldKind kind) {
        Target target = field.getType().isPrimitive() ? Target.PRIMITIVE : Target.REFERENCE;
        return new FieldWriter(target, Memory.fieldOffset(field), kind, field);
    }

    static FieldWriter ofArgument(int index, Field field, FieldKind kind) {
        return new FieldWriter(Target.ARGUMENT, index, kind, field);
    }

    /** Whether the field has the bits that a fixed column of its kind has. */
    boolean copiesBits() {
        return target == Target.PRIMITIVE && kind != FieldKind.CHAR && kind != FieldKind.BOOLEAN;
    }

    void copyBits(Object instance, Object base, long at) {
        switch (kind) {
            case LONG, DOUBLE -> Memory.putLong(instance, offset, Memory.getLong(base, at));
            case SHORT -> Memory.putShort(instance, offset, Memory.getShort(base, at));
            case BYTE -> Memory.putByte(instance, offset, Memory.getByte(base, at));
            default -> Memory.putInt(instance, offset, Memory.getInt(base, at));
        }
    }

    /**
     * Copies a field's values of some rows.
     *
     * @param instances of rows {@code fromRow + i} at i
     * @param reader of a fixed column of the kind's own bits
     * @param probeRows address of the probe row of each row
     */
    void copyBits(Object[] instances, FieldReader reader, int fromRow, long probeRows) {
        byte[] base = reader.base();
        long start = reader.start();
        // A fact's column is indexed by the probe row, a dimension's by the row.
        boolean ofFacts = reader.isOfFacts();
        long to = offset;
        boolean isLong = kind == FieldKind.LONG || kind == FieldKind.DOUBLE;
        int widthBytes = reader.source().type().widthBytes();
        for (int i = 0; i < instances.length; i++) {
            int row = fromRow + i;
            int index = ofFacts ? Memory.getInt(probeRows + 4L * row) : row;
            long at = start + (long) widthBytes * index;
            if (isLong) {
                Memory.putLong(instances[i], to, Memory.getLong(base, at));
            } else {
                copyBits(instances[i], base, at);
            }
        }
    }

    void set(Object instance, Object value) {
        if (value == null && field.getType().isPrimitive()) {
            throw new IllegalArgumentException(
                    "Null for a primitive field: field=%s. Declare it as the wrapper class."
                            .formatted(field));
        }
        switch (target) {
            case ARGUMENT -> ((Object[]) instance)[(int) offset] = value;
            case REFERENCE -> Memory.putObject(instance, offset, value);
            case PRIMITIVE -> setPrimitive(instance, value);
        }
    }

    private void setPrimitive(Object instance, Object value) {
        switch (kind) {
            case INT -> Memory.putInt(instance, offset, (Integer) value);
            case LONG -> Memory.putLong(instance, offset, (Long) value);
            case FLOAT -> Memory.putInt(instance, offset, Float.floatToRawIntBits((Float) value));
            case DOUBLE ->
                    Memory.putLong(instance, offset, Double.doubleToRawLongBits((Double) value));
            case SHORT -> Memory.putShort(instance, offset, (Short) value);
            case BYTE -> Memory.putByte(instance, offset, (Byte) value);
            case CHAR -> Memory.putShort(instance, offset, (short) (char) (Character) value);
            case BOOLEAN -> Memory.putByte(instance, offset, (byte) ((Boolean) value ? 1 : 0));
            default -> throw new IllegalStateException("Field is not a primitive: field=" + field);
        }
    }
}
