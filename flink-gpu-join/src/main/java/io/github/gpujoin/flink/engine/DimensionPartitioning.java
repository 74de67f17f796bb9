// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import java.io.Serializable;

/**
 * A dimension that is partitioned over the subtasks, and that each subtask divides over its memory
 * tiers.
 *
 * @param dimension number of the dimension
 * @param units partition groups of each subtask; 0 to choose by need
 * @param spillDelayMs longest time for which facts of spilled partitions wait for each other
 */
public record DimensionPartitioning(int dimension, int units, long spillDelayMs)
        implements Serializable {

    private static final long serialVersionUID = 1L;
}
