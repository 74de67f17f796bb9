// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api.options;

import org.apache.flink.annotation.PublicEvolving;

/** How many metrics a join registers. */
@PublicEvolving
public enum MetricLevel {
    /** Metrics that show the health of the join. Their number does not depend on its dimensions. */
    ESSENTIAL,
    /** Also the rows and bytes of each dimension, and the largest and the median partition. */
    ALL
}
