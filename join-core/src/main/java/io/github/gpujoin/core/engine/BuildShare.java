// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.engine;

import io.github.gpujoin.core.histogram.Histogram;

/**
 * What one subtask builds of the partitioned dimension, and what all subtasks of its process build.
 * Subtasks of a process share devices, so that an engine needs both to know its fair part.
 *
 * @param partitions build rows of the subtask by radix partition
 * @param bytes build bytes of the subtask, as {@link EngineChecks#payloadBytes} counts them
 * @param processRows build rows of all subtasks of the process, this one included
 * @param processBytes build bytes of all subtasks of the process, this one included
 */
public record BuildShare(Histogram partitions, long bytes, long processRows, long processBytes) {

    /**
     * Checks the sums.
     *
     * @throws IllegalArgumentException if the process builds less than the subtask
     */
    public BuildShare {
        if (bytes < 0 || processBytes < bytes || processRows < partitions.partitionedRows()) {
            throw new IllegalArgumentException(
                    "A process builds less than one of its subtasks: rows=%d, bytes=%d, processRows=%d, processBytes=%d"
                            .formatted(
                                    partitions.partitionedRows(),
                                    bytes,
                                    processRows,
                                    processBytes));
        }
    }

    /**
     * Returns the subtask's share of the bytes of its process, from 0 to 1; 1 if there are none.
     */
    public double share() {
        return processBytes == 0 ? 1 : (double) bytes / processBytes;
    }
}
