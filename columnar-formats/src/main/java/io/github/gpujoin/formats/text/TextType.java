// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.text;

import io.github.gpujoin.core.layout.ColumnType;
import org.apache.flink.annotation.PublicEvolving;

/** How a column is written in a text file, and the type that its values have in a chunk. */
@PublicEvolving
public enum TextType {
    INT8(ColumnType.INT8, "an 8-bit integer"),
    INT16(ColumnType.INT16, "a 16-bit integer"),
    INT32(ColumnType.INT32, "a 32-bit integer"),
    INT64(ColumnType.INT64, "a 64-bit integer"),
    FLOAT32(ColumnType.FLOAT32, "a number"),
    FLOAT64(ColumnType.FLOAT64, "a number"),
    /** A decimal of at most 18 digits, kept exactly as a count of its last digit. */
    DECIMAL(ColumnType.INT64, "a decimal"),
    /** {@code true} or {@code false} in any case, or 1 or 0; kept as 1 or 0. */
    BOOLEAN(ColumnType.INT8, "true or false"),
    /** {@code yyyy-mm-dd}, kept as days since 1970. */
    DATE(ColumnType.INT32, "a date written yyyy-mm-dd"),
    /**
     * {@code yyyy-mm-dd hh:mm:ss} with up to six digits of a second, a space or a T, and no zone;
     * kept as microseconds since 1970.
     */
    TIMESTAMP(ColumnType.INT64, "a time written yyyy-mm-dd hh:mm:ss[.ffffff]"),
    /** The bytes as they are; they should be UTF-8. */
    TEXT(ColumnType.STRING, "text");

    private final ColumnType columnType;
    private final String expectation;

    TextType(ColumnType columnType, String expectation) {
        this.columnType = columnType;
        this.expectation = expectation;
    }

    /**
     * Returns the type of the values in a chunk.
     *
     * @return the type
     */
    public ColumnType columnType() {
        return columnType;
    }

    /** Returns what a malformed field should have been, for messages. */
    String expectation() {
        return expectation;
    }
}
