package io.github.gpujoin.core.layout;

import java.io.Serializable;
import java.util.Objects;

/**
 * A named column of a chunk.
 *
 * <p>A column that is not nullable and has a fixed width is stored as an array ("fixed"). Every
 * other column is stored among the row's carried bytes, which no engine looks into.
 */
public record Column(String name, ColumnType type, boolean nullable) implements Serializable {

    public Column {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(type, "type");
        if (name.isEmpty()) {
            throw new IllegalArgumentException("a column needs a name: type=" + type);
        }
    }

    public static Column of(String name, ColumnType type) {
        return new Column(name, type, false);
    }

    public static Column nullable(String name, ColumnType type) {
        return new Column(name, type, true);
    }

    public boolean isFixed() {
        return type.isFixedWidth() && !nullable;
    }
}
