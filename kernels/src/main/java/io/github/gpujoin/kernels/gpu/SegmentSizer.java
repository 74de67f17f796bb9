package io.github.gpujoin.kernels.gpu;

/**
 * How many rows go into a segment: as many as are expected to give what one step may: a result
 * buffer full, or as many results as a step adds up.
 *
 * <p>Results come back in order, and a slot has two buffers: a segment that needs a third is asked
 * for again only when all before it is taken, and those behind it wait for that round trip: one
 * with four results a row would keep a whole device waiting. Facts of the last {@link #MEMORY_ROWS}
 * rows say what to expect. Not thread-safe.
 */
final class SegmentSizer {

    private static final int MEMORY_ROWS = 1 << 18;

    /** Part of a step's results that is planned for; segments differ. */
    private static final double FILL = 0.8;

    private final int maxRows;
    private final int maxResults;
    private double rows;
    private double results;

    /**
     * @param maxRows most rows of a segment
     * @param maxResults most results of a step
     */
    SegmentSizer(int maxRows, int maxResults) {
        this.maxRows = maxRows;
        this.maxResults = maxResults;
    }

    /** Tells what a step gave: results, and rows that are complete with them. */
    void gave(long moreRows, long moreResults) {
        rows += moreRows;
        results += moreResults;
        if (rows > MEMORY_ROWS) {
            rows /= 2;
            results /= 2;
        }
    }

    /** Rows of the next segment, at least 1. */
    int rows() {
        if (results * FILL * maxRows <= rows * maxResults) {
            return maxRows;
        }
        return (int) Math.max(1, FILL * maxResults * rows / results);
    }
}
