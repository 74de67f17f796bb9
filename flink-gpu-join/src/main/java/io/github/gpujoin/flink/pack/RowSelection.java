// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.pack;

/** Rows of a chunk in ascending order; reused from chunk to chunk. */
final class RowSelection {

    private int[] chosen = new int[0];
    private int[] all = new int[0];
    private int[] rows = chosen;
    private int size;

    /** Selects nothing, with room for that many rows. */
    void clear(int rowCount) {
        if (chosen.length < rowCount) {
            chosen = new int[rowCount];
        }
        rows = chosen;
        size = 0;
    }

    void add(int row) {
        chosen[size++] = row;
    }

    /** Selects every row. */
    void selectAll(int rowCount) {
        if (all.length < rowCount) {
            all = new int[rowCount];
            for (int row = 0; row < rowCount; row++) {
                all[row] = row;
            }
        }
        rows = all;
        size = rowCount;
    }

    /** Returns the rows in an array that the caller may reorder, followed by {@link #truncate}. */
    int[] own() {
        if (rows == all) {
            if (chosen.length < size) {
                chosen = new int[size];
            }
            System.arraycopy(all, 0, chosen, 0, size);
            rows = chosen;
        }
        return rows;
    }

    /** Keeps the first rows only. */
    void truncate(int count) {
        size = count;
    }

    /** The rows are the first {@link #size()} of them. */
    int[] rows() {
        return rows;
    }

    int size() {
        return size;
    }
}
