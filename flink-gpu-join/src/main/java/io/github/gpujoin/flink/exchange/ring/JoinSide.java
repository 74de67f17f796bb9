// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

/** Sides of the join. Each sends its chunks as one stream to the owners of their partitions. */
public enum JoinSide {
    /** Chunks of the partitioned dimension. */
    BUILD,
    /** Chunks of facts. */
    PROBE
}
