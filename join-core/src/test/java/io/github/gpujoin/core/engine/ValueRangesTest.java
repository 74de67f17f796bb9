// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import java.util.Random;
import java.util.function.LongPredicate;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ValueRangesTest {

    private static final long[] VALUES = {
        Long.MIN_VALUE,
        Long.MIN_VALUE + 1,
        -3,
        -2,
        -1,
        0,
        1,
        2,
        3,
        Long.MAX_VALUE - 1,
        Long.MAX_VALUE
    };

    private static void assertContains(ValueRanges ranges, LongPredicate expected) {
        for (long value : VALUES) {
            assertThat(ranges.contains(value))
                    .as("%s in %s", value, ranges)
                    .isEqualTo(expected.test(value));
        }
    }

    @Test
    void shouldContainTheValuesOfEachComparison() {
        for (long a : VALUES) {
            assertContains(ValueRanges.lessThan(a), v -> v < a);
            assertContains(ValueRanges.lessOrEqual(a), v -> v <= a);
            assertContains(ValueRanges.greaterThan(a), v -> v > a);
            assertContains(ValueRanges.greaterOrEqual(a), v -> v >= a);
            assertContains(ValueRanges.notEqualTo(a), v -> v != a);
            assertContains(ValueRanges.in(a), v -> v == a);
            for (long b : VALUES) {
                if (a <= b) {
                    assertContains(ValueRanges.between(a, b), v -> v >= a && v <= b);
                }
                assertContains(ValueRanges.in(a, b), v -> v == a || v == b);
            }
        }
    }

    private static ValueRanges between(long a, long b) {
        return ValueRanges.between(Math.min(a, b), Math.max(a, b));
    }

    @ParameterizedTest(name = "seed={0}")
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void shouldUniteSets(long seed) {
        Random random = new Random(seed);
        for (int i = 0; i < 200; i++) {
            long[] some = random.longs(6, -8, 8).toArray();
            ValueRanges left = ValueRanges.in(some).or(between(some[0], some[1]));
            ValueRanges right = ValueRanges.lessThan(some[2]).or(ValueRanges.in(some[3], some[4]));
            ValueRanges both = left.or(right);
            for (long v = -10; v < 10; v++) {
                assertThat(both.contains(v)).isEqualTo(left.contains(v) || right.contains(v));
            }
            for (int r = 1; r < both.ranges().size(); r++) {
                assertThat(both.ranges().get(r).from())
                        .as("ranges do not touch: %s", both)
                        .isGreaterThan(both.ranges().get(r - 1).to() + 1);
            }
        }
    }

    @Test
    void shouldEqualAChunkWithTheSameValues() {
        assertThat(ValueRanges.in(3, 1, 2)).isEqualTo(ValueRanges.between(1, 3));
        assertThat(ValueRanges.lessThan(5).or(ValueRanges.greaterOrEqual(5)))
                .isEqualTo(ValueRanges.lessOrEqual(Long.MAX_VALUE));
        assertThat(ValueRanges.in().ranges()).isEmpty();
        assertThat(ValueRanges.in(1, 7, 9, 8)).hasToString("{1, 7..9}");
        assertThat(ValueRanges.notEqualTo(5)).hasToString("{..4, 6..}");
    }

    @Test
    void shouldRejectARangeThatEndsBeforeItsStart() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ValueRanges.between(24, 1))
                .withMessage("Range ends before its start: from=24, to=1. Swap the bounds.");
    }

    @Test
    void shouldRejectTooManyRanges() {
        LongStream even = LongStream.range(0, ValueRanges.MAX_RANGES + 1).map(v -> 2 * v);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ValueRanges.in(even.toArray()))
                .withMessageContaining("more than 64 ranges")
                .withMessageEndingWith("ranges=65");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new ValueRanges(List.of(new ValueRanges.Range(2, 1))))
                .withMessageContaining("from=2, to=1");
    }
}
