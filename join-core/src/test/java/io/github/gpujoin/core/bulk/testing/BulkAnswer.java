// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.bulk.testing;

import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.bulk.BulkOutput;
import io.github.gpujoin.core.bulk.BulkResult;
import io.github.gpujoin.core.bulk.ResultSides;
import io.github.gpujoin.core.engine.Aggregation;
import io.github.gpujoin.core.engine.GroupRows;
import io.github.gpujoin.core.layout.ChunkCursor;
import io.github.gpujoin.core.layout.testing.ChunkSamples;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The whole answer of a bulk join, comparable with {@code equals}: numbers by a list of values. Of
 * rows, the values are the sides and the columns, and the number is how often the row occurs. Of
 * groups, they are the group and its aggregates. A count has no values.
 */
public final class BulkAnswer {

    private final Map<List<Object>, List<Long>> numbers = new HashMap<>();

    /** Adds a result, after checking that it has the form that the join asks for. */
    public void add(BulkJoinSpec spec, BulkResult result) {
        if (result instanceof BulkResult.Count count) {
            require(spec.output() instanceof BulkOutput.Count, result);
            addCount(count.rows());
        } else if (result instanceof BulkResult.Rows rows) {
            require(spec.output() instanceof BulkOutput.Rows, result);
            require(rows.chunk().schema().equals(spec.resultSchema(rows.sides())), result);
            ChunkCursor cursor = new ChunkCursor(rows.chunk().schema());
            for (int row = 0; row < rows.chunk().rowCount(); row++) {
                addRow(rows.sides(), ChunkSamples.values(cursor.at(rows.chunk(), row)));
            }
        } else if (result instanceof BulkResult.Groups groups) {
            require(spec.output() instanceof BulkOutput.Groups, result);
            addGroups(((BulkOutput.Groups) spec.output()).aggregation(), groups.groups());
        }
    }

    private static void require(boolean isExpected, BulkResult result) {
        if (!isExpected) {
            throw new AssertionError("unexpected result: " + result);
        }
    }

    void addCount(long rows) {
        add(List.of(), List.of(rows));
    }

    void addRow(ResultSides sides, Object[] values) {
        List<Object> row = new ArrayList<>();
        row.add(sides);
        for (Object value : values) {
            row.add(value instanceof byte[] bytes ? ByteBuffer.wrap(bytes) : value);
        }
        add(row, List.of(1L));
    }

    void addGroup(List<Long> group, Long... aggregates) {
        add(new ArrayList<>(group), Arrays.asList(aggregates));
    }

    private void addGroups(Aggregation aggregation, GroupRows groups) {
        for (int row = 0; row < groups.rowCount(); row++) {
            List<Long> group = new ArrayList<>();
            for (int c = 0; c < aggregation.groupColumns().size(); c++) {
                group.add(groups.groupValue(row, c));
            }
            Long[] aggregates = new Long[aggregation.aggregates().size()];
            for (int a = 0; a < aggregates.length; a++) {
                aggregates[a] = groups.aggregate(row, a);
            }
            addGroup(group, aggregates);
        }
    }

    private void add(List<Object> values, List<Long> added) {
        numbers.merge(
                values,
                added,
                (a, b) -> {
                    List<Long> sums = new ArrayList<>(a);
                    for (int i = 0; i < sums.size(); i++) {
                        sums.set(i, a.get(i) + b.get(i));
                    }
                    return sums;
                });
    }

    /** Returns the rows of all results, counted ones included, or 0 of groups. */
    public long rowCount() {
        return numbers.entrySet().stream()
                .filter(e -> e.getKey().isEmpty() || e.getKey().get(0) instanceof ResultSides)
                .mapToLong(e -> e.getValue().get(0))
                .sum();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof BulkAnswer that && numbers.equals(that.numbers);
    }

    @Override
    public int hashCode() {
        return numbers.hashCode();
    }

    @Override
    public String toString() {
        return numbers.toString();
    }
}
