// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import io.github.gpujoin.core.region.Memory;

/**
 * Probe rows that have passed every dimension so far, in columns of native memory, ascending by
 * probe row.
 *
 * <pre>
 *  int32 probeRow[capacityRows]
 *  for each dimension so far whose payload is part of results:
 *    int64 match[capacityRows]      address of the build row, or the row of a row lookup;
 *                                   without a match, address of a row of zeros
 * </pre>
 *
 * <p>The scan of a chunk is a batch too, of consecutive rows and without arrays.
 */
final class MatchBatch {

    private final int capacityRows;
    private final long probeRows;
    private final long[] matches;
    private int rowCount;
    private int firstProbeRow;

    /** Creates a batch for the scan of a chunk. */
    MatchBatch(int capacityRows) {
        this(capacityRows, 0, new long[0]);
    }

    /**
     * @param probeRows address of the probeRow array
     * @param matches addresses of the match arrays, by dimension; 0 if there is none
     */
    MatchBatch(int capacityRows, long probeRows, long[] matches) {
        this.capacityRows = capacityRows;
        this.probeRows = probeRows;
        this.matches = matches;
    }

    int rowCount() {
        return rowCount;
    }

    void setRowCount(int rowCount) {
        this.rowCount = rowCount;
    }

    /** Sets the rows of a scan of a chunk. */
    void setConsecutive(int firstProbeRow, int rowCount) {
        this.firstProbeRow = firstProbeRow;
        this.rowCount = rowCount;
    }

    int roomRows() {
        return capacityRows - rowCount;
    }

    int capacityRows() {
        return capacityRows;
    }

    boolean isConsecutive() {
        return probeRows == 0;
    }

    /** Returns the address of the probeRow array; 0 if rows are consecutive. */
    long probeRows() {
        return probeRows;
    }

    int probeRow(int row) {
        return isConsecutive() ? firstProbeRow + row : Memory.getInt(probeRows + 4L * row);
    }

    /** Returns the address of the match array of a dimension; 0 if there is none. */
    long matches(int dimension) {
        return matches[dimension];
    }
}
