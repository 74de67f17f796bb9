// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.layout;

import java.io.Serializable;
import java.util.Objects;

/**
 * A named column of a chunk.
 *
 * <p>A column of fixed width that is not nullable is an array ("fixed-width column"). Every other
 * column is stored with the variable-width values of its row, which engines copy without reading
 * them.
 */
public record Column(String name, ColumnType type, boolean nullable) implements Serializable {

    public Column {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(type, "type");
        if (name.isEmpty()) {
            throw new IllegalArgumentException("Column name is empty: type=" + type);
        }
    }

    public static Column of(String name, ColumnType type) {
        return new Column(name, type, false);
    }

    public static Column nullable(String name, ColumnType type) {
        return new Column(name, type, true);
    }

    /** Whether the column is stored as an array of fixed-width values. */
    public boolean isFixed() {
        return type.isFixedWidth() && !nullable;
    }
}
