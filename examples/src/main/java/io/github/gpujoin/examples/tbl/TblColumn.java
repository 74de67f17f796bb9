// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.tbl;

import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.formats.text.TextColumn;
import java.io.Serializable;

/**
 * A column of a {@code .tbl} file.
 *
 * @param nullable whether an empty field is null; otherwise it is empty text, and malformed in a
 *     column of another type than text
 */
public record TblColumn(String name, TblType type, boolean nullable) implements Serializable {

    public static TblColumn of(String name, TblType type) {
        return new TblColumn(name, type, false);
    }

    public static TblColumn nullable(String name, TblType type) {
        return new TblColumn(name, type, true);
    }

    Column chunkColumn() {
        return new Column(name, type.text().columnType(), nullable);
    }

    TextColumn textColumn() {
        return new TextColumn(name, type.text(), type.scale(), nullable);
    }
}
