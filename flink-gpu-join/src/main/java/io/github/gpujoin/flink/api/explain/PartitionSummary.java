// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api.explain;

import java.io.Serializable;
import org.apache.flink.annotation.PublicEvolving;

/**
 * Distribution of build rows over the radix partitions of a subtask. Partitions without rows do not
 * count.
 *
 * @param partitions number of partitions with rows
 * @param medianRows median of their row counts; of two middle counts, the larger one
 * @param maxRows largest of their row counts
 * @param largest number of the partition with the most rows, the first of several; -1 if no
 *     partition has rows
 */
@PublicEvolving
public record PartitionSummary(int partitions, long medianRows, long maxRows, int largest)
        implements Serializable {

    private static final long serialVersionUID = 1L;

    /** Summary without partitions: all build rows are replicated, or there are none. */
    public static final PartitionSummary NONE = new PartitionSummary(0, 0, 0, -1);

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
