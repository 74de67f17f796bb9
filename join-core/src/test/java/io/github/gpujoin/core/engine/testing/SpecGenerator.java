// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.engine.testing;

import io.github.gpujoin.core.engine.Aggregate;
import io.github.gpujoin.core.engine.Aggregation;
import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.FactFilter;
import io.github.gpujoin.core.engine.JoinColumn;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ValueRanges;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Random filters and aggregations over a join's columns. */
public final class SpecGenerator {

    private final RandomJoinData data;
    private final JoinSpec spec;
    private final Random random;

    public SpecGenerator(RandomJoinData data, Random random) {
        this.data = data;
        this.spec = data.spec();
        this.random = random;
    }

    public RandomJoinData filtered() {
        List<FactFilter> filters = new ArrayList<>();
        for (int i = random.nextInt(1, 4); i > 0; i--) {
            List<Integer> integers = integers(spec.factSchema());
            int column = integers.get(random.nextInt(integers.size()));
            filters.add(new FactFilter(column, ranges(column)));
        }
        return data.with(
                new JoinSpec(
                        spec.factSchema(),
                        spec.dimensions(),
                        filters,
                        spec.aggregation(),
                        spec.nullKeysColumn()));
    }

    public RandomJoinData aggregated() {
        List<JoinColumn> columns = joinColumns();
        List<JoinColumn> groups = new ArrayList<>();
        for (int i = random.nextInt(Aggregation.MAX_GROUP_COLUMNS + 1); i > 0; i--) {
            groups.add(columns.get(random.nextInt(columns.size())));
        }
        List<Aggregate> aggregates = new ArrayList<>();
        for (int i = random.nextInt(1, Aggregation.MAX_AGGREGATES + 1); i > 0; i--) {
            JoinColumn first = columns.get(random.nextInt(columns.size()));
            JoinColumn second = columns.get(random.nextInt(columns.size()));
            aggregates.add(
                    switch (random.nextInt(3)) {
                        case 0 -> Aggregate.count();
                        case 1 -> Aggregate.sum(first);
                        default -> Aggregate.sumOfProduct(first, second);
                    });
        }
        int[] limits = {1, 7, 300, Aggregation.DEFAULT_MAX_GROUPS};
        Aggregation aggregation =
                new Aggregation(groups, aggregates, limits[random.nextInt(limits.length)]);
        return data.with(
                new JoinSpec(
                        spec.factSchema(),
                        spec.dimensions(),
                        spec.filters(),
                        aggregation,
                        spec.nullKeysColumn()));
    }

    /** Returns comparisons with values that occur. */
    private ValueRanges ranges(int column) {
        long value = someValue(column);
        return switch (random.nextInt(7)) {
            case 0 -> ValueRanges.greaterOrEqual(value);
            case 1 -> ValueRanges.lessOrEqual(value);
            case 2 -> ValueRanges.lessThan(value);
            case 3 -> ValueRanges.greaterThan(value);
            case 4 -> ValueRanges.notEqualTo(value);
            case 5 ->
                    ValueRanges.in(value, someValue(column), someValue(column), value + 1)
                            .or(ValueRanges.greaterOrEqual(someValue(column)));
            default -> {
                long other = someValue(column);
                yield ValueRanges.between(Math.min(value, other), Math.max(value, other));
            }
        };
    }

    private long someValue(int column) {
        Chunk chunk = data.probes().get(random.nextInt(data.probes().size()));
        return chunk.rowCount() == 0
                ? random.nextLong()
                : chunk.getLong(column, random.nextInt(chunk.rowCount()));
    }

    /** Returns the integer columns of all inputs; those with few values occur three times. */
    private List<JoinColumn> joinColumns() {
        List<JoinColumn> columns = new ArrayList<>();
        add(columns, ChunkDescriptor.FACTS, spec.factSchema());
        for (int d = 0; d < spec.dimensions().size(); d++) {
            DimensionSpec side = spec.dimensions().get(d);
            if (side.kind() == JoinKind.INNER) {
                add(columns, d, side.schema());
            }
        }
        return columns;
    }

    private static void add(List<JoinColumn> columns, int side, ChunkSchema schema) {
        for (int column : integers(schema)) {
            boolean few = schema.column(column).name().equals("few_values");
            for (int i = few ? 3 : 1; i > 0; i--) {
                columns.add(new JoinColumn(side, column));
            }
        }
    }

    private static List<Integer> integers(ChunkSchema schema) {
        List<Integer> integers = new ArrayList<>();
        for (int i = 0; i < schema.size(); i++) {
            Column column = schema.column(i);
            if (column.isFixed() && column.type().isInteger()) {
                integers.add(i);
            }
        }
        return integers;
    }
}
