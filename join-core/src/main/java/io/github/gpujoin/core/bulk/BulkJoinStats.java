// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.bulk;

/**
 * Memory and progress of a bulk join.
 *
 * @param leftRows submitted rows of the left input
 * @param rightRows submitted rows of the right input
 * @param inputBytes bytes of those rows: fixed-width columns and variable-width values
 * @param memoryBytes memory that the join holds; for a join on devices, memory of the devices only
 * @param spilledBytes bytes written to files because they exceeded the memory
 * @param resultRows rows of polled results, counted ones included, or polled groups
 */
public record BulkJoinStats(
        long leftRows,
        long rightRows,
        long inputBytes,
        long memoryBytes,
        long spilledBytes,
        long resultRows) {}
