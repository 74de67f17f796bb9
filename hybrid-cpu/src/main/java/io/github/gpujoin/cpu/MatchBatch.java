package io.github.gpujoin.cpu;

import io.github.gpujoin.core.region.Memory;

/**
 * Probe rows that found a match in every dimension so far, in columns of native memory, ascending
 * by probe row.
 *
 * <pre>
 *  int32 probeRow[capacityRows]
 *  for each dimension so far whose payload stands in results:
 *    int64 match[capacityRows]      address of the build row
 * </pre>
 */
final class MatchBatch {

    private final int capacityRows;
    private final long probeRows;
    private final long[] matches;
    private int rowCount;

    /**
     * @param probeRows address of the probeRow array
     * @param matches addresses of the match arrays, by dimension, 0 where there is none
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

    int roomRows() {
        return capacityRows - rowCount;
    }

    int capacityRows() {
        return capacityRows;
    }

    long probeRows() {
        return probeRows;
    }

    int probeRow(int row) {
        return Memory.getInt(probeRows + 4L * row);
    }

    /** Address of the dimension's match array, 0 where there is none. */
    long matches(int dimension) {
        return matches[dimension];
    }
}
