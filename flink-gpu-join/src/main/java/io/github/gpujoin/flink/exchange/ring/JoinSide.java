// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

/**
 * Sides of a join whose chunks are sent to the owners of their partitions. Each is one stream;
 * replicated dimensions have none.
 */
public enum JoinSide {
    /** Chunks of the partitioned dimension. */
    BUILD,
    /** Chunks of facts. */
    PROBE
}
