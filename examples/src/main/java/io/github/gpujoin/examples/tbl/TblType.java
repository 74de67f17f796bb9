// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.tbl;

import io.github.gpujoin.formats.text.TextType;

/** What a field of a {@code .tbl} file holds. */
public enum TblType {
    INT32(TextType.INT32, 0),
    INT64(TextType.INT64, 0),
    /** A decimal with up to two digits after the point, kept exactly as a count of hundredths. */
    HUNDREDTHS(TextType.DECIMAL, 2),
    /** {@code yyyy-mm-dd}, kept as days since 1970. */
    DATE(TextType.DATE, 0),
    /** The bytes between the bars as they are. */
    TEXT(TextType.TEXT, 0);

    private final TextType text;
    private final int scale;

    TblType(TextType text, int scale) {
        this.text = text;
        this.scale = scale;
    }

    TextType text() {
        return text;
    }

    /** Returns the digits after the point. */
    int scale() {
        return scale;
    }
}
