// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.symmetric;

/**
 * Counts since the creation of a join.
 *
 * @param leftRows rows in the left table
 * @param rightRows rows in the right table
 * @param unknownRetractions retractions of rows that were not in the table
 * @param expiredRows rows that were removed since they had expired
 * @param memoryBytes of both tables, and of the chunks that they refer to
 * @param spilledBytes of the chunks that they refer to in files
 */
public record SymmetricJoinStats(
        long leftRows,
        long rightRows,
        long unknownRetractions,
        long expiredRows,
        long memoryBytes,
        long spilledBytes) {}
