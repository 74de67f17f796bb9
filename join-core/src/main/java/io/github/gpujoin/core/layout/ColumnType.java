// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.layout;

/** Type of a column's values, and the width of a value in a fixed-width column. */
public enum ColumnType {
    INT8(1),
    INT16(2),
    INT32(4),
    INT64(8),
    FLOAT32(4),
    FLOAT64(8),
    /** UTF-8 text; always variable-width. */
    STRING(0),
    /** Any bytes; always variable-width. */
    BYTES(0);

    private final int widthBytes;

    ColumnType(int widthBytes) {
        this.widthBytes = widthBytes;
    }

    /** Returns the bytes of a value, or 0 if they vary. */
    public int widthBytes() {
        return widthBytes;
    }

    public boolean isFixedWidth() {
        return widthBytes > 0;
    }

    /**
     * Returns as which type a getter of integers up to {@code widest} reads a column of this type:
     * this type, or {@code widest} if this is wider or no integer.
     */
    ColumnType readUpTo(ColumnType widest) {
        return isInteger() && widthBytes <= widest.widthBytes ? this : widest;
    }

    /** Whether values are floating-point numbers. */
    public boolean isFloat() {
        return this == FLOAT32 || this == FLOAT64;
    }

    /** Whether values are signed integers of {@link #widthBytes} bytes. */
    public boolean isInteger() {
        return this == INT8 || this == INT16 || this == INT32 || this == INT64;
    }
}
