package io.github.gpujoin.core.histogram;

/**
 * Share of recent rows by radix partition: counts that are halved once a window is full, so that
 * drift shows within a window or two and old load fades. Not thread-safe.
 */
public final class RunningHistogram {

    private final long[] rows;
    private final long windowRows;
    private long total;

    /**
     * @param windowRows rows after which all counts are halved
     */
    public RunningHistogram(int partitions, long windowRows) {
        if (partitions < 1 || windowRows < 1) {
            throw new IllegalArgumentException(
                    "partitions and window are positive: partitions="
                            + partitions
                            + ", windowRows="
                            + windowRows);
        }
        this.rows = new long[partitions];
        this.windowRows = windowRows;
    }

    public void add(int partition, long count) {
        rows[partition] += count;
        total += count;
        while (total >= windowRows) {
            total = 0;
            for (int i = 0; i < rows.length; i++) {
                rows[i] >>>= 1;
                total += rows[i];
            }
        }
    }

    /** Share of the partition from 0 to 1; 0 while nothing was counted. */
    public double share(int partition) {
        return total == 0 ? 0 : (double) rows[partition] / total;
    }

    public int partitions() {
        return rows.length;
    }
}
