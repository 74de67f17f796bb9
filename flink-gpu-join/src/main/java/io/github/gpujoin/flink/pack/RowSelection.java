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

    /** The rows are the first {@link #size()} of them. */
    int[] rows() {
        return rows;
    }

    int size() {
        return size;
    }
}
