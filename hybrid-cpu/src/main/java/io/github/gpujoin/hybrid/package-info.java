// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Divides a build side into partition groups and places each in a memory tier: device, host, or
 * spilled to the log. Start with {@link io.github.gpujoin.hybrid.HybridJoinEngine}, then read
 * {@link io.github.gpujoin.hybrid.Placement} and {@link io.github.gpujoin.hybrid.PlacementPlanner}.
 * A {@link io.github.gpujoin.hybrid.SpilledPartitionJoin} joins what has no tables.
 */
package io.github.gpujoin.hybrid;
