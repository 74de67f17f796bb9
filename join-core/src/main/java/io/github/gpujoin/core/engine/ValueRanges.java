// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.engine;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/**
 * A set of 64-bit integers: the values that pass a comparison of an integer column with constants.
 * Immutable.
 *
 * @param ranges sorted and disjoint, both ends inclusive; none for the empty set. The constructor
 *     sorts and merges its argument.
 */
public record ValueRanges(List<Range> ranges) implements Serializable {

    /** Maximum number of ranges, which engines test one after the other. */
    public static final int MAX_RANGES = 64;

    /**
     * All integers from {@code from} to {@code to}.
     *
     * @param to inclusive, not below {@code from}
     */
    public record Range(long from, long to) implements Serializable {

        public Range {
            if (from > to) {
                throw new IllegalArgumentException(
                        "Range ends before its start: from=%d, to=%d. Swap the bounds."
                                .formatted(from, to));
            }
        }

        /** Omits an end that bounds no 64-bit integer. */
        @Override
        public String toString() {
            if (from == to) {
                return String.valueOf(from);
            }
            String start = from == Long.MIN_VALUE ? "" : String.valueOf(from);
            return start + ".." + (to == Long.MAX_VALUE ? "" : String.valueOf(to));
        }
    }

    public ValueRanges {
        ranges = merged(ranges);
        if (ranges.size() > MAX_RANGES) {
            throw new IllegalArgumentException(
                    "Filter has more than "
                            + MAX_RANGES
                            + " ranges of values. Join a dimension of the values with .semi()"
                            + " instead: ranges="
                            + ranges.size());
        }
    }

    private static List<Range> merged(List<Range> ranges) {
        List<Range> result = new ArrayList<>();
        for (Range range : ranges.stream().sorted(Comparator.comparing(Range::from)).toList()) {
            Range last = result.isEmpty() ? null : result.get(result.size() - 1);
            if (last == null || last.to != Long.MAX_VALUE && last.to + 1 < range.from) {
                result.add(range);
            } else {
                result.set(result.size() - 1, new Range(last.from, Math.max(last.to, range.to)));
            }
        }
        return List.copyOf(result);
    }

    /**
     * Returns the integers from {@code from} to {@code to}, both inclusive.
     *
     * @throws IllegalArgumentException if {@code to} is below {@code from}
     */
    public static ValueRanges between(long from, long to) {
        return new ValueRanges(List.of(new Range(from, to)));
    }

    public static ValueRanges in(long... values) {
        return new ValueRanges(LongStream.of(values).mapToObj(v -> new Range(v, v)).toList());
    }

    public static ValueRanges lessOrEqual(long value) {
        return between(Long.MIN_VALUE, value);
    }

    public static ValueRanges greaterOrEqual(long value) {
        return between(value, Long.MAX_VALUE);
    }

    public static ValueRanges lessThan(long value) {
        return value == Long.MIN_VALUE ? in() : lessOrEqual(value - 1);
    }

    public static ValueRanges greaterThan(long value) {
        return value == Long.MAX_VALUE ? in() : greaterOrEqual(value + 1);
    }

    public static ValueRanges notEqualTo(long value) {
        return lessThan(value).or(greaterThan(value));
    }

    /** Returns the integers of either set. */
    public ValueRanges or(ValueRanges other) {
        List<Range> both = new ArrayList<>(ranges);
        both.addAll(other.ranges);
        return new ValueRanges(both);
    }

    public boolean contains(long value) {
        return ranges.stream().anyMatch(range -> range.from <= value && value <= range.to);
    }

    @Override
    public String toString() {
        return ranges.stream().map(Range::toString).collect(Collectors.joining(", ", "{", "}"));
    }
}
