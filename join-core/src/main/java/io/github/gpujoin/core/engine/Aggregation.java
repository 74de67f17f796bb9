// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.engine;

import java.io.Serializable;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * The grouping of a join that returns aggregates of groups instead of rows.
 *
 * @param groupColumns 0 to {@value #MAX_GROUP_COLUMNS} columns to group by, whose types {@link
 *     JoinSpec} checks: fixed-width integers, or STRING of a dimension, which {@link GroupCodes}
 *     replace for an engine; empty for a single group of all rows
 * @param aggregates of each group; 1 to {@value #MAX_AGGREGATES}
 * @param maxGroups number of groups, 1 to 2^20, at which an engine pauses until its groups are
 *     read. It may hold more by the new groups of one step.
 */
public record Aggregation(List<JoinColumn> groupColumns, List<Aggregate> aggregates, int maxGroups)
        implements Serializable {

    public static final int MAX_GROUP_COLUMNS = 4;
    public static final int MAX_AGGREGATES = 8;
    public static final int DEFAULT_MAX_GROUPS = 1 << 16;
    private static final int MOST_GROUPS = 1 << 20;

    /**
     * Copies the lists.
     *
     * @throws IllegalArgumentException if a number is out of range
     */
    public Aggregation {
        groupColumns = List.copyOf(groupColumns);
        aggregates = List.copyOf(aggregates);
        if (groupColumns.size() > MAX_GROUP_COLUMNS) {
            throw new IllegalArgumentException(
                    "Too many group columns: groupColumns="
                            + groupColumns.size()
                            + ", maximum="
                            + MAX_GROUP_COLUMNS);
        }
        if (aggregates.isEmpty() || aggregates.size() > MAX_AGGREGATES) {
            throw new IllegalArgumentException(
                    "Number of counts and sums is out of range (1 to "
                            + MAX_AGGREGATES
                            + "): aggregates="
                            + aggregates.size());
        }
        if (maxGroups < 1 || maxGroups > MOST_GROUPS) {
            throw new IllegalArgumentException(
                    "Number of groups is out of range (1 to "
                            + MOST_GROUPS
                            + "): maxGroups="
                            + maxGroups);
        }
    }

    /** Describes an aggregation whose engine pauses at {@value #DEFAULT_MAX_GROUPS} groups. */
    public Aggregation(List<JoinColumn> groupColumns, List<Aggregate> aggregates) {
        this(groupColumns, aggregates, DEFAULT_MAX_GROUPS);
    }

    /** Returns this aggregation with each column replaced. */
    Aggregation map(UnaryOperator<JoinColumn> groups, UnaryOperator<JoinColumn> factors) {
        return new Aggregation(
                groupColumns.stream().map(groups).toList(),
                aggregates.stream()
                        .map(a -> new Aggregate(a.factors().stream().map(factors).toList()))
                        .toList(),
                maxGroups);
    }

    /** Returns all columns that are read, once for each use. */
    public Stream<JoinColumn> columns() {
        return Stream.concat(
                groupColumns.stream(), aggregates.stream().flatMap(a -> a.factors().stream()));
    }

    /** Returns the number of 64-bit values of a group: its columns and its aggregates. */
    public int groupWidth() {
        return groupColumns.size() + aggregates.size();
    }
}
