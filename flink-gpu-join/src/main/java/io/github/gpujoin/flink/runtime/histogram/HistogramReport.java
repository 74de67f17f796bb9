// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.histogram;

import io.github.gpujoin.core.histogram.Histogram;
import org.apache.flink.runtime.executiongraph.ExecutionAttemptID;
import org.apache.flink.runtime.operators.coordination.CoordinationRequest;
import org.apache.flink.runtime.state.KeyGroupRange;

/**
 * Reports what one subtask builds of the partitioned dimension. It holds 8 bytes for each radix
 * partition of the subtask, so that the reports of all subtasks have 256 KiB at most, with 32,768
 * partitions.
 *
 * @param attempt of the subtask
 * @param process TaskManager that it runs in
 * @param firstPartition of the subtask
 * @param rows of each of its partitions, in order
 * @param bytes of all rows
 */
public record HistogramReport(
        ExecutionAttemptID attempt, String process, int firstPartition, long[] rows, long bytes)
        implements CoordinationRequest {

    private static final long serialVersionUID = 1L;

    /** Reports the partitions that a subtask owns. */
    public static HistogramReport of(
            ExecutionAttemptID attempt,
            String process,
            KeyGroupRange own,
            Histogram partitions,
            long bytes) {
        long[] rows = new long[own.getNumberOfKeyGroups()];
        for (int i = 0; i < rows.length; i++) {
            rows[i] = partitions.rows(own.getStartKeyGroup() + i);
        }
        return new HistogramReport(attempt, process, own.getStartKeyGroup(), rows, bytes);
    }

    void addTo(Histogram histogram) {
        for (int i = 0; i < rows.length; i++) {
            histogram.add(firstPartition + i, rows[i]);
        }
    }

    int endPartition() {
        return firstPartition + rows.length;
    }
}
