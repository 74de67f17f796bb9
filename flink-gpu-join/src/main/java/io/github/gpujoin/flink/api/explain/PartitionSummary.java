// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api.explain;

import java.io.Serializable;
import org.apache.flink.annotation.PublicEvolving;

/**
 * How evenly build rows lie over the radix partitions that a subtask owns, those without rows left
 * out.
 *
 * @param partitions with rows
 * @param medianRows of those
 * @param maxRows of the largest
 * @param largest the partition with most rows
 */
@PublicEvolving
public record PartitionSummary(int partitions, long medianRows, long maxRows, int largest)
        implements Serializable {

    private static final long serialVersionUID = 1L;

    /** Of no partition: all build rows are replicated, or there are none. */
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
