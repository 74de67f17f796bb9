// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import java.io.Serializable;

/**
 * A dimension that is partitioned over the subtasks, and that each subtask divides over its memory
 * tiers.
 *
 * @param dimension number of the dimension
 * @param groupCount partition groups of each subtask; 0 to choose by need
 * @param spillDelayMs longest time for which probes of spilled partitions are deferred
 */
public record DimensionPartitioning(int dimension, int groupCount, long spillDelayMs)
        implements Serializable {

    private static final long serialVersionUID = 1L;
}
