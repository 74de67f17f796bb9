package io.github.gpujoin.core.engine;

import java.io.Serializable;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

/**
 * What an engine gives in place of rows: sums of groups of them.
 *
 * @param groupColumns by whose values rows are grouped, fixed INT32 or INT64 columns; without any,
 *     all rows are one group
 * @param aggregates of each group
 * @param maxGroups groups at which an engine stops until they are taken; it may hold somewhat more,
 *     as many as it meets at once
 */
public record Aggregation(List<JoinColumn> groupColumns, List<Aggregate> aggregates, int maxGroups)
        implements Serializable {

    public static final int MAX_GROUP_COLUMNS = 4;
    public static final int MAX_AGGREGATES = 8;
    public static final int DEFAULT_MAX_GROUPS = 1 << 16;
    private static final int MOST_GROUPS = 1 << 20;

    public Aggregation {
        groupColumns = List.copyOf(groupColumns);
        aggregates = List.copyOf(aggregates);
        if (groupColumns.size() > MAX_GROUP_COLUMNS
                || aggregates.isEmpty()
                || aggregates.size() > MAX_AGGREGATES) {
            throw new IllegalArgumentException(
                    "rows are grouped by at most "
                            + MAX_GROUP_COLUMNS
                            + " columns and have from 1 to "
                            + MAX_AGGREGATES
                            + " aggregates: groupColumns="
                            + groupColumns.size()
                            + ", aggregates="
                            + aggregates.size());
        }
        if (maxGroups < 1 || maxGroups > MOST_GROUPS) {
            throw new IllegalArgumentException(
                    "an engine holds from 1 to " + MOST_GROUPS + " groups: maxGroups=" + maxGroups);
        }
    }

    public Aggregation(List<JoinColumn> groupColumns, List<Aggregate> aggregates) {
        this(groupColumns, aggregates, DEFAULT_MAX_GROUPS);
    }

    /** The same with other columns in place of these. */
    Aggregation map(UnaryOperator<JoinColumn> columns) {
        return new Aggregation(
                groupColumns.stream().map(columns).toList(),
                aggregates.stream()
                        .map(a -> new Aggregate(a.factors().stream().map(columns).toList()))
                        .toList(),
                maxGroups);
    }

    /** All columns that are read, each as often as it is. */
    public Stream<JoinColumn> columns() {
        return Stream.concat(
                groupColumns.stream(), aggregates.stream().flatMap(a -> a.factors().stream()));
    }

    /** 64-bit values of a group: its columns and its aggregates. */
    public int groupWidth() {
        return groupColumns.size() + aggregates.size();
    }
}
