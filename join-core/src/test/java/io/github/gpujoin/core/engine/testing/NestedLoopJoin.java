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
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Memory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The definition of the join, without tables, hashes or state. It is the oracle for the reference
 * engine. Its time is quadratic, so it is for small data only.
 */
public final class NestedLoopJoin {

    private final JoinSpec spec;
    private final List<RandomJoinData.BuildChunk> builds;

    public NestedLoopJoin(JoinSpec spec, List<RandomJoinData.BuildChunk> builds) {
        this.spec = spec;
        this.builds = builds;
    }

    /** A row of a chunk. */
    private record RowPosition(Chunk chunk, int row) {
        long value(int column) {
            return chunk.getLong(column, row);
        }
    }

    private static final RowPosition NO_MATCH = new RowPosition(null, -1);

    /** Returns all results of the chunk, sorted. */
    public List<ResultRow> join(Chunk probe) {
        List<ResultRow> rows = new ArrayList<>();
        for (int row = 0; row < probe.rowCount(); row++) {
            for (List<RowPosition> matches : matches(new RowPosition(probe, row))) {
                StringBuilder payload = new StringBuilder();
                for (int d = 0; d < matches.size(); d++) {
                    payload.append(payload(spec.dimensions().get(d), matches.get(d)));
                }
                rows.add(new ResultRow(row, payload.toString()));
            }
        }
        rows.sort(null);
        return rows;
    }

    /** Returns the aggregates of each group of the results of all chunks. */
    public Map<List<Long>, List<Long>> aggregate(List<Chunk> probes) {
        Aggregation aggregation = spec.aggregation();
        Map<List<Long>, List<Long>> groups = new HashMap<>();
        for (Chunk probe : probes) {
            for (int row = 0; row < probe.rowCount(); row++) {
                RowPosition fact = new RowPosition(probe, row);
                for (List<RowPosition> matches : matches(fact)) {
                    List<Long> group = new ArrayList<>();
                    aggregation.groupColumns().forEach(c -> group.add(value(c, fact, matches)));
                    List<Long> summands = new ArrayList<>();
                    for (Aggregate aggregate : aggregation.aggregates()) {
                        long product = 1;
                        for (JoinColumn factor : aggregate.factors()) {
                            product *= value(factor, fact, matches);
                        }
                        summands.add(product);
                    }
                    groups.merge(group, summands, NestedLoopJoin::sums);
                }
            }
        }
        return groups;
    }

    private static long value(JoinColumn column, RowPosition fact, List<RowPosition> matches) {
        return (column.isFact() ? fact : matches.get(column.side())).value(column.column());
    }

    /** Adds two lists value by value. */
    public static List<Long> sums(List<Long> left, List<Long> right) {
        List<Long> sums = new ArrayList<>();
        for (int i = 0; i < left.size(); i++) {
            sums.add(left.get(i) + right.get(i));
        }
        return sums;
    }

    /** Returns all combinations of a fact's matches, one of each dimension. */
    private List<List<RowPosition>> matches(RowPosition fact) {
        for (FactFilter filter : spec.filters()) {
            if (!filter.values().contains(fact.value(filter.column()))) {
                return List.of();
            }
        }
        List<List<RowPosition>> combinations = List.of(List.of());
        for (int d = 0; d < spec.dimensions().size(); d++) {
            combinations = crossed(combinations, matches(d, fact));
        }
        return combinations;
    }

    private List<RowPosition> matches(int dimension, RowPosition fact) {
        DimensionSpec side = spec.dimensions().get(dimension);
        long key = fact.value(side.factKeyColumn());
        boolean isNull =
                spec.hasNullKeys() && (fact.value(spec.nullKeysColumn()) & 1L << dimension) != 0;
        List<RowPosition> matches = new ArrayList<>();
        for (RandomJoinData.BuildChunk build : builds) {
            for (int row = 0; row < build.chunk().rowCount(); row++) {
                if (build.dimension() == dimension
                        && !isNull
                        && build.chunk().getLong(side.keyColumn(), row) == key) {
                    matches.add(new RowPosition(build.chunk(), row));
                }
            }
        }
        return switch (side.kind()) {
            case INNER -> matches;
            case LEFT -> matches.isEmpty() ? List.of(NO_MATCH) : matches;
            case SEMI -> matches.isEmpty() ? matches : matches.subList(0, 1);
            case ANTI -> matches.isEmpty() ? List.of(NO_MATCH) : List.of();
        };
    }

    private static String payload(DimensionSpec side, RowPosition position) {
        if (position == NO_MATCH && side.kind() == JoinKind.LEFT) {
            return ResultRows.unmatched(side.payloadColumns().size());
        }
        Chunk chunk = position.chunk();
        int row = position.row();
        List<Long> bits = new ArrayList<>();
        for (int column : side.payloadColumns()) {
            bits.add(
                    switch (chunk.schema().column(column).type()) {
                        case INT8, INT16, INT32, INT64 -> chunk.getLong(column, row);
                        case FLOAT32 ->
                                (long)
                                        Float.floatToRawIntBits(
                                                (float) chunk.getDouble(column, row));
                        case FLOAT64 -> Double.doubleToRawLongBits(chunk.getDouble(column, row));
                        case STRING, BYTES -> throw new AssertionError("variableWidth, not fixed");
                    });
        }
        byte[] variableWidth = null;
        if (side.hasVariableWidthPayload()) {
            variableWidth = variableWidthRow(chunk, row);
        }
        StringBuilder text = new StringBuilder();
        ResultRows.append(text, bits, variableWidth);
        return text.toString();
    }

    private static byte[] variableWidthRow(Chunk chunk, int row) {
        long start = chunk.variableWidthStart(row);
        byte[] bytes = new byte[(int) (chunk.variableWidthEnd(row) - start)];
        Memory.copy(chunk.array(), start, bytes, Memory.BYTES, bytes.length);
        return bytes;
    }

    private static List<List<RowPosition>> crossed(
            List<List<RowPosition>> left, List<RowPosition> right) {
        List<List<RowPosition>> product = new ArrayList<>();
        for (List<RowPosition> l : left) {
            for (RowPosition r : right) {
                List<RowPosition> longer = new ArrayList<>(l);
                longer.add(r);
                product.add(longer);
            }
        }
        return product;
    }
}
