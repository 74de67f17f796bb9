// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

/**
 * Chooses the number of rows of a segment: as many as are expected to produce the results that one
 * step may hold, which is one result buffer or the limit on aggregated results.
 *
 * <p>Results are returned in order, and a slot has two buffers. A segment that needs a third buffer
 * waits until all earlier segments are emitted, and later segments wait for that round trip. At
 * four results a row this would leave the whole device idle. The expectation is the fan-out of
 * about the last {@link #MEMORY_ROWS} rows. Not thread-safe.
 */
final class SegmentSizer {

    private static final int MEMORY_ROWS = 1 << 18;

    /** Fraction of the results of a step to plan for, since segments differ. */
    private static final double FILL = 0.8;

    private final int maxRows;
    private final int maxResults;
    private double rows;
    private double results;

    /**
     * @param maxRows maximum rows of a segment
     * @param maxResults maximum results of a step
     */
    SegmentSizer(int maxRows, int maxResults) {
        this.maxRows = maxRows;
        this.maxResults = maxResults;
    }

    /**
     * Records the results of a step.
     *
     * @param moreRows rows that are complete with this step
     * @param moreResults results of the step
     */
    void completed(long moreRows, long moreResults) {
        rows += moreRows;
        results += moreResults;
        if (rows > MEMORY_ROWS) {
            rows /= 2;
            results /= 2;
        }
    }

    /** Returns the rows of the next segment, at least 1. */
    int rows() {
        if (results * FILL * maxRows <= rows * maxResults) {
            return maxRows;
        }
        return (int) Math.max(1, FILL * maxResults * rows / results);
    }
}
