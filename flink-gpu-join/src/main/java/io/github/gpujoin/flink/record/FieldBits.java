// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import io.github.gpujoin.core.region.Memory;

/** Bits of values that take at most 4 bytes in a column. */
public final class FieldBits {

    private FieldBits() {}

    /** Value of a primitive field of an integer, a character or a truth value, as an integer. */
    public static int narrowed(Object record, FieldKind kind, long offset) {
        return switch (kind) {
            case INT -> Memory.getInt(record, offset);
            case SHORT -> Memory.getShort(record, offset);
            case CHAR -> (char) Memory.getShort(record, offset);
            case BYTE, BOOLEAN -> Memory.getByte(record, offset);
            default -> throw new IllegalStateException("Field has more than 4 bytes: kind=" + kind);
        };
    }

    /** Of a field's value that is an object. */
    static int of(Object value, FieldKind kind) {
        return switch (kind) {
            case INT -> (Integer) value;
            case SHORT -> (Short) value;
            case BYTE -> (Byte) value;
            case CHAR -> (Character) value;
            case BOOLEAN -> (Boolean) value ? 1 : 0;
            case FLOAT -> Float.floatToRawIntBits((Float) value);
            default -> throw new IllegalStateException("Field has more than 4 bytes: kind=" + kind);
        };
    }
}
