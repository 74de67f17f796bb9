package io.github.gpujoin.core.layout;

import java.io.Serializable;
import java.util.List;
import java.util.stream.Collectors;

/** The columns of a chunk, in order, and where each stands for a given row count. Immutable. */
public final class ChunkSchema implements Serializable {

    private static final long serialVersionUID = 1L;

    private final List<Column> columns;
    private final int fingerprint;
    private final int fixedRowBytes;
    private final int carriedColumns;

    private ChunkSchema(List<Column> columns) {
        this.columns = List.copyOf(columns);
        int bytes = 0;
        int carried = 0;
        for (int i = 0; i < this.columns.size(); i++) {
            Column column = this.columns.get(i);
            if (indexOf(column.name()) != i) {
                throw new IllegalArgumentException(
                        "column names must differ: name=" + column.name() + ", schema=" + this);
            }
            if (column.isFixed()) {
                bytes += column.type().widthBytes();
            } else {
                carried++;
            }
        }
        this.fixedRowBytes = bytes;
        this.carriedColumns = carried;
        this.fingerprint = toString().hashCode();
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
        for (int i = 0; i < columns.size(); i++) {
            if (columns.get(i).name().equals(name)) {
                return i;
            }
        }
        return -1;
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
                            + columns.stream().map(Column::name).collect(Collectors.toList()));
        }
        return index;
    }

    /** Bytes a row takes in fixed columns. */
    public int fixedRowBytes() {
        return fixedRowBytes;
    }

    public boolean hasCarried() {
        return carriedColumns > 0;
    }

    public int carriedColumns() {
        return carriedColumns;
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
        return other instanceof ChunkSchema that && columns.equals(that.columns);
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
