// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.symmetric;

import java.util.List;

/**
 * Counts since the creation of a join.
 *
 * @param tableRows rows in the table of each input
 * @param unknownRetractions retractions of rows that were not in the table
 * @param expiredRows rows that were removed since they had expired
 * @param memoryBytes of all tables, and of the chunks that they refer to
 * @param spilledBytes of the chunks that they refer to in files
 */
public record SymmetricJoinStats(
        List<Long> tableRows,
        long unknownRetractions,
        long expiredRows,
        long memoryBytes,
        long spilledBytes) {}
