// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.bulk.testing;

import io.github.gpujoin.core.bulk.BulkInput;
import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.bulk.BulkOutput;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.bulk.ResultSides;
import io.github.gpujoin.core.engine.Aggregate;
import io.github.gpujoin.core.engine.Aggregation;
import io.github.gpujoin.core.engine.JoinColumn;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkCursor;
import io.github.gpujoin.core.layout.testing.ChunkSamples;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The definition of a bulk join: compares each left row with each right row. */
public final class NestedLoopBulkJoin {

    private final BulkJoinSpec spec;
    private final BulkAnswer answer = new BulkAnswer();

    private NestedLoopBulkJoin(BulkJoinSpec spec) {
        this.spec = spec;
    }

    public static BulkAnswer join(BulkJoinSpec spec, List<Chunk> left, List<Chunk> right) {
        NestedLoopBulkJoin join = new NestedLoopBulkJoin(spec);
        join.join(rows(spec.left(), left), rows(spec.right(), right));
        return join.answer;
    }

    private static List<Object[]> rows(BulkInput input, List<Chunk> chunks) {
        ChunkCursor cursor = new ChunkCursor(input.schema());
        List<Object[]> rows = new ArrayList<>();
        for (Chunk chunk : chunks) {
            for (int row = 0; row < chunk.rowCount(); row++) {
                rows.add(ChunkSamples.values(cursor.at(chunk, row)));
            }
        }
        return rows;
    }

    private void join(List<Object[]> left, List<Object[]> right) {
        if (spec.output() instanceof BulkOutput.Count) {
            answer.addCount(0);
        }
        boolean[] isMatched = new boolean[right.size()];
        for (Object[] leftRow : left) {
            int matches = 0;
            for (int r = 0; r < right.size(); r++) {
                if (haveEqualKeys(leftRow, right.get(r))) {
                    matches++;
                    isMatched[r] = true;
                    if (spec.kind().returnsPairs()) {
                        emit(leftRow, right.get(r));
                    }
                }
            }
            if (matches == 0
                    ? spec.kind().keepsUnmatched(JoinSide.LEFT)
                    : spec.kind() == BulkJoinKind.SEMI) {
                emit(leftRow, null);
            }
        }
        for (int r = 0; r < right.size(); r++) {
            if (!isMatched[r] && spec.kind().keepsUnmatched(JoinSide.RIGHT)) {
                emit(null, right.get(r));
            }
        }
    }

    private boolean haveEqualKeys(Object[] left, Object[] right) {
        for (int i = 0; i < spec.left().keyColumns().size(); i++) {
            Object a = left[spec.left().keyColumns().get(i)];
            Object b = right[spec.right().keyColumns().get(i)];
            boolean areEqual =
                    a == null || b == null ? a == b && spec.nullsAreEqual(i) : areEqual(a, b);
            if (!areEqual) {
                return false;
            }
        }
        return true;
    }

    private static boolean areEqual(Object a, Object b) {
        if (a instanceof Number left && b instanceof Number right) {
            return left.longValue() == right.longValue();
        }
        return a instanceof byte[] left ? Arrays.equals(left, (byte[]) b) : a.equals(b);
    }

    private void emit(Object @Nullable [] left, Object @Nullable [] right) {
        if (spec.output() instanceof BulkOutput.Count) {
            answer.addCount(1);
        } else if (spec.output() instanceof BulkOutput.Rows rows) {
            ResultSides sides =
                    left == null
                            ? ResultSides.RIGHT
                            : right == null ? ResultSides.LEFT : ResultSides.BOTH;
            answer.addRow(
                    sides,
                    Stream.concat(
                                    values(left, rows.leftColumns()),
                                    values(right, rows.rightColumns()))
                            .toArray());
        } else if (spec.output() instanceof BulkOutput.Groups groups) {
            emitGroup(groups.aggregation(), left, right);
        }
    }

    private static Stream<Object> values(Object @Nullable [] row, List<Integer> columns) {
        return row == null ? Stream.of() : columns.stream().map(column -> row[column]);
    }

    private void emitGroup(
            Aggregation aggregation, Object @Nullable [] left, Object @Nullable [] right) {
        List<Long> group =
                aggregation.groupColumns().stream().map(c -> value(c, left, right)).toList();
        Long[] aggregates = new Long[aggregation.aggregates().size()];
        for (int a = 0; a < aggregates.length; a++) {
            Aggregate aggregate = aggregation.aggregates().get(a);
            aggregates[a] =
                    aggregate.factors().stream()
                            .map(c -> value(c, left, right))
                            .reduce(1L, (x, y) -> x * y);
        }
        answer.addGroup(group, aggregates);
    }

    private static Long value(
            JoinColumn column, Object @Nullable [] left, Object @Nullable [] right) {
        Object[] row = column.side() == JoinSide.LEFT.ordinal() ? left : right;
        return ((Number) row[column.column()]).longValue();
    }
}
