// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api.options;

import org.apache.flink.annotation.PublicEvolving;

/** How many metrics a join registers. */
@PublicEvolving
public enum MetricLevel {
    /** What tells whether the join is well: as many, however many dimensions there are. */
    ESSENTIAL,
    /** Those of each dimension and of single partitions too. */
    ALL
}
