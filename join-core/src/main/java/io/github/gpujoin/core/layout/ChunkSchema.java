package io.github.gpujoin.core.layout;

import java.io.Serializable;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The columns of a chunk, in order, and where each stands for a given row count. Immutable. */
public final class ChunkSchema implements Serializable {

    private static final long serialVersionUID = 1L;

    private final List<Column> columns;

    // Follow from the columns and are made anew where a schema arrives.
    private final transient Map<String, Integer> indexes = new HashMap<>();
    private final transient int fingerprint;
    private final transient int fixedRowBytes;
    private final transient int[] carriedWidths;

    private ChunkSchema(List<Column> columns) {
        this.columns = List.copyOf(columns);
        int bytes = 0;
        for (int i = 0; i < this.columns.size(); i++) {
            Column column = this.columns.get(i);
            if (indexes.putIfAbsent(column.name(), i) != null) {
                throw new IllegalArgumentException(
                        "column names must differ: name=" + column.name() + ", schema=" + this);
            }
            bytes += column.isFixed() ? column.type().widthBytes() : 0;
        }
        this.fixedRowBytes = bytes;
        this.carriedWidths =
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

    /** Index of the column, or -1. */
    public int indexOf(String name) {
        return indexes.getOrDefault(name, -1);
    }

    /**
     * Index of the column.
     *
     * @throws IllegalArgumentException naming the column and those there are
     */
    public int require(String name) {
        int index = indexOf(name);
        if (index < 0) {
            throw new IllegalArgumentException(
                    "no such column: name="
                            + name
                            + ", columns="
                            + columns.stream().map(Column::name).toList());
        }
        return index;
    }

    /** Bytes a row takes in fixed columns. */
    public int fixedRowBytes() {
        return fixedRowBytes;
    }

    public boolean hasCarried() {
        return carriedWidths.length > 0;
    }

    public int carriedColumns() {
        return carriedWidths.length;
    }

    /**
     * Bytes of a value that is not null, per carried column; 0 where they vary. Not to be written.
     */
    int[] carriedWidths() {
        return carriedWidths;
    }

    /** Stands in every chunk's header, so that a chunk is not read under another schema. */
    public int fingerprint() {
        return fingerprint;
    }

    /**
     * Byte offset of each fixed column in a chunk of that many rows (-1 for carried columns), and,
     * as the last element, where the fixed columns end, aligned: the start of the carried section.
     */
    int[] offsets(int rowCount) {
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
                    "a chunk ends before 2 GiB: lengthBytes=" + next + ", rowCount=" + rowCount);
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
