// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.reference;

import io.github.gpujoin.core.engine.Aggregate;
import io.github.gpujoin.core.engine.Aggregation;
import io.github.gpujoin.core.engine.GroupRows;
import io.github.gpujoin.core.engine.JoinColumn;
import io.github.gpujoin.core.reference.ReferenceJoinEngine.JoinedRow;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** Aggregates results by group in a {@code HashMap}. */
final class ReferenceGroups {

    private final Aggregation aggregation;
    private final Map<List<Long>, long[]> sums = new HashMap<>();

    ReferenceGroups(Aggregation aggregation) {
        this.aggregation = aggregation;
    }

    boolean isFull() {
        return sums.size() >= aggregation.maxGroups();
    }

    /**
     * Adds one result: a fact and its match in each dimension.
     *
     * @param fact null in a join without facts, whose columns are all of {@code matches}
     */
    void add(@Nullable JoinedRow fact, List<JoinedRow> matches) {
        List<Long> group =
                aggregation.groupColumns().stream().map(c -> value(c, fact, matches)).toList();
        List<Aggregate> aggregates = aggregation.aggregates();
        long[] sum = sums.computeIfAbsent(group, g -> new long[aggregates.size()]);
        for (int i = 0; i < sum.length; i++) {
            long product = 1;
            for (JoinColumn factor : aggregates.get(i).factors()) {
                product *= value(factor, fact, matches);
            }
            sum[i] += product;
        }
    }

    private static long value(
            JoinColumn column, @Nullable JoinedRow fact, List<JoinedRow> matches) {
        JoinedRow row = column.isFact() ? fact : matches.get(column.side());
        return row.chunk().getLong(column.column(), row.row());
    }

    /** Returns the groups and clears them. */
    GroupRows drain() {
        long[] values =
                sums.entrySet().stream()
                        .flatMapToLong(
                                e ->
                                        LongStream.concat(
                                                e.getKey().stream().mapToLong(Long::longValue),
                                                LongStream.of(e.getValue())))
                        .toArray();
        sums.clear();
        return new GroupRows(aggregation, values);
    }
}
