package io.github.gpujoin.flink.pack;

/** Rows of a chunk in ascending order; reused from chunk to chunk. */
final class RowSelection {

    private int[] rows = new int[0];
    private int size;

    /** Selects nothing, with room for that many rows. */
    void clear(int rowCount) {
        if (rows.length < rowCount) {
            rows = new int[rowCount];
        }
        size = 0;
    }

    void add(int row) {
        rows[size++] = row;
    }

    /** The rows are the first {@link #size()} of them. */
    int[] rows() {
        return rows;
    }

    int size() {
        return size;
    }
}
