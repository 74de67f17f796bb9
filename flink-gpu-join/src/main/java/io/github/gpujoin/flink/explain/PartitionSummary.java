package io.github.gpujoin.flink.explain;

import io.github.gpujoin.core.histogram.Histogram;
import java.io.Serializable;
import java.util.Arrays;

/**
 * How evenly build rows lie over the radix partitions that a subtask owns, those without rows left
 * out.
 *
 * @param partitions with rows
 * @param medianRows of those
 * @param maxRows of the largest
 * @param largest the partition with most rows
 */
public record PartitionSummary(int partitions, long medianRows, long maxRows, int largest)
        implements Serializable {

    private static final long serialVersionUID = 1L;

    /** Of no partition: all build rows are replicated, or there are none. */
    public static final PartitionSummary NONE = new PartitionSummary(0, 0, 0, -1);

    public static PartitionSummary of(Histogram histogram) {
        long[] rows = new long[histogram.partitions()];
        int filled = 0;
        int largest = 0;
        for (int partition = 0; partition < histogram.partitions(); partition++) {
            if (histogram.rows(partition) > 0) {
                rows[filled++] = histogram.rows(partition);
            }
            if (histogram.rows(partition) > histogram.rows(largest)) {
                largest = partition;
            }
        }
        if (filled == 0) {
            return NONE;
        }
        Arrays.sort(rows, 0, filled);
        return new PartitionSummary(filled, rows[filled / 2], rows[filled - 1], largest);
    }

    @Override
    public String toString() {
        return "partitions with rows="
                + partitions
                + ", median="
                + medianRows
                + " rows, largest="
                + maxRows
                + " rows (partition "
                + largest
                + ")";
    }
}
