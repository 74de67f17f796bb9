// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.layout;

import java.io.Serializable;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The columns of a chunk, in order, and their offsets for a given row count. Immutable. */
public final class ChunkSchema implements Serializable {

    private static final long serialVersionUID = 1L;

    private final List<Column> columns;

    // Derived from the columns; readResolve computes them again.
    private final transient Map<String, Integer> indexes = new HashMap<>();
    private final transient int fingerprint;
    private final transient int fixedRowBytes;
    private final transient int[] variableWidthValueBytes;

    private ChunkSchema(List<Column> columns) {
        this.columns = List.copyOf(columns);
        int bytes = 0;
        for (int i = 0; i < this.columns.size(); i++) {
            Column column = this.columns.get(i);
            if (indexes.putIfAbsent(column.name(), i) != null) {
                throw new IllegalArgumentException(
                        "Two columns have the same name: name="
                                + column.name()
                                + ", schema="
                                + this);
            }
            bytes += column.isFixed() ? column.type().widthBytes() : 0;
        }
        this.fixedRowBytes = bytes;
        this.variableWidthValueBytes =
                this.columns.stream()
                        .filter(column -> !column.isFixed())
                        .mapToInt(column -> column.type().widthBytes())
                        .toArray();
        this.fingerprint = toString().hashCode();
    }

    private Object readResolve() {
        return new ChunkSchema(columns);
    }

    public static ChunkSchema of(List<Column> columns) {
        return new ChunkSchema(columns);
    }

    public static ChunkSchema of(Column... columns) {
        return new ChunkSchema(List.of(columns));
    }

    public List<Column> columns() {
        return columns;
    }

    public int size() {
        return columns.size();
    }

    public Column column(int index) {
        return columns.get(index);
    }

    /** Returns the index of the column, or -1 if there is none. */
    public int indexOf(String name) {
        return indexes.getOrDefault(name, -1);
    }

    /**
     * Returns the index of the column.
     *
     * @throws IllegalArgumentException if there is none; the message lists all columns
     */
    public int require(String name) {
        int index = indexOf(name);
        if (index < 0) {
            throw new IllegalArgumentException(
                    "Unknown column: name="
                            + name
                            + ", columns="
                            + columns.stream().map(Column::name).toList());
        }
        return index;
    }

    /** Returns the bytes of a row in fixed-width columns. */
    public int fixedRowBytes() {
        return fixedRowBytes;
    }

    public boolean hasVariableWidth() {
        return variableWidthValueBytes.length > 0;
    }

    public int variableWidthColumnCount() {
        return variableWidthValueBytes.length;
    }

    /**
     * Returns, for each variable-width column, the bytes of a value that is not null, or 0 if they
     * vary. The caller must not modify the array.
     */
    int[] variableWidthValueBytes() {
        return variableWidthValueBytes;
    }

    /**
     * Returns a hash of the columns. Each chunk contains it, so that no reader applies another
     * schema.
     */
    public int fingerprint() {
        return fingerprint;
    }

    /**
     * Returns the byte offset of each fixed-width column in a chunk of {@code rowCount} rows, -1
     * for variable-width columns. The last element is the aligned end of the fixed-width columns,
     * where the variable-width section starts.
     */
    public int[] offsets(int rowCount) {
        int[] offsets = new int[columns.size() + 1];
        long next = ChunkDescriptor.HEADER_BYTES;
        for (int i = 0; i < columns.size(); i++) {
            Column column = columns.get(i);
            if (column.isFixed()) {
                offsets[i] = (int) next;
                next =
                        ChunkDescriptor.alignColumn(
                                next + (long) column.type().widthBytes() * rowCount);
            } else {
                offsets[i] = -1;
            }
        }
        if (next > Integer.MAX_VALUE) {
            throw new ChunkFormatException(
                    "Chunk exceeds 2 GiB: lengthBytes=" + next + ", rowCount=" + rowCount);
        }
        offsets[columns.size()] = (int) next;
        return offsets;
    }

    @Override
    public boolean equals(Object other) {
        return this == other || other instanceof ChunkSchema that && columns.equals(that.columns);
    }

    @Override
    public int hashCode() {
        return columns.hashCode();
    }

    @Override
    public String toString() {
        return columns.stream()
                .map(c -> c.name() + " " + c.type() + (c.nullable() ? " NULL" : ""))
                .collect(Collectors.joining(", ", "(", ")"));
    }
}
