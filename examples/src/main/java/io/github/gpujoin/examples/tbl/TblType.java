// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.tbl;

import io.github.gpujoin.core.layout.ColumnType;

/** What a field of a {@code .tbl} file holds, and as what it stands in a chunk. */
public enum TblType {
    INT32(ColumnType.INT32, "a 32-bit integer"),
    INT64(ColumnType.INT64, "a 64-bit integer"),
    /** A decimal with up to two digits after the point, kept exactly as a count of hundredths. */
    HUNDREDTHS(ColumnType.INT64, "a decimal with at most two digits after the point"),
    /** {@code yyyy-mm-dd}, kept as the number {@code yyyymmdd}. */
    DATE(ColumnType.INT32, "a date written yyyy-mm-dd"),
    /** The bytes between the bars as they are. */
    TEXT(ColumnType.STRING, "text");

    private final ColumnType columnType;
    private final String expectation;

    TblType(ColumnType columnType, String expectation) {
        this.columnType = columnType;
        this.expectation = expectation;
    }

    public ColumnType columnType() {
        return columnType;
    }

    /** What a malformed field should have been, for messages. */
    String expectation() {
        return expectation;
    }
}
