// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import java.io.Serializable;

/**
 * That a dimension is partitioned over the subtasks, and divided further by each of them over the
 * memory that it has.
 *
 * @param dimension that is partitioned
 * @param units into which each subtask divides its part; 0 to choose by what it needs
 * @param spillDelayMs longest time that facts wait in state for others whose build rows are in the
 *     log too
 */
public record DimensionPartitioning(int dimension, int units, long spillDelayMs)
        implements Serializable {

    private static final long serialVersionUID = 1L;
}
