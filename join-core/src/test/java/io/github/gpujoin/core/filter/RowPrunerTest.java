// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.filter;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.engine.ValueRanges;
import io.github.gpujoin.core.filter.RowPruner.ColumnTest;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RowPrunerTest {

    private static final int ROWS = 1_000;

    private final List<Integer> readColumns = new ArrayList<>();

    private static RangeCondition below(long limit) {
        return new RangeCondition(ValueRanges.lessThan(limit));
    }

    private int select(RowPruner pruner) {
        long[] values = IntStream.range(0, ROWS).asLongStream().toArray();
        int[] rows = IntStream.range(0, ROWS).toArray();
        readColumns.clear();
        return pruner.select(
                (column, condition, some, count) -> {
                    readColumns.add(column);
                    return condition.select(values, some, 0, count, 0);
                },
                rows,
                ROWS);
    }

    @Test
    void shouldTestTheMostSelectiveConditionFirstOnceItWasSampled() {
        RowPruner pruner =
                new RowPruner(
                        List.of(new ColumnTest(7, below(500)), new ColumnTest(8, below(10))), 0.9);
        for (int i = 0; i < 100; i++) {
            assertThat(select(pruner)).isEqualTo(10);
        }
        assertThat(readColumns).containsExactly(8, 7);
    }

    @Test
    void shouldSuspendAConditionThatKeepsNearlyAllAndSampleItAgain() {
        RowPruner pruner = new RowPruner(List.of(new ColumnTest(0, below(990))), 0.875);
        int tested = 0;
        for (int i = 0; i < 20_000; i++) {
            if (pruner.isActive()) {
                select(pruner);
                tested++;
            } else {
                pruner.skip(ROWS);
            }
        }
        assertThat(tested).isBetween(40, 100);
    }

    @Test
    void shouldTestAConditionAgainThatDropsMuchAfterASuspension() {
        boolean[] isSelective = {false};
        RowPruner pruner =
                new RowPruner(
                        List.of(new ColumnTest(0, below(990)), new ColumnTest(1, below(10))),
                        0.875);
        RowPruner.Columns columns =
                (column, condition, rows, count) ->
                        column == 0 || isSelective[0] ? count / 10 : count;
        int[] rows = IntStream.range(0, ROWS).toArray();
        for (int i = 0; i < 20; i++) {
            pruner.select(columns, rows, ROWS);
        }
        isSelective[0] = true;
        int kept = 0;
        for (int i = 0; i < 2_000; i++) {
            kept = pruner.select(columns, rows, ROWS);
        }
        assertThat(kept).isEqualTo(ROWS / 100);
    }

    @Test
    void shouldReadNoColumnWhenNoRowIsLeft() {
        RowPruner pruner =
                new RowPruner(
                        List.of(new ColumnTest(0, below(0)), new ColumnTest(1, below(10))), 0.9);
        assertThat(select(pruner)).isZero();
        assertThat(readColumns).containsExactly(0);
    }
}
