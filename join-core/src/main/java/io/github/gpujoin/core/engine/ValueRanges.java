package io.github.gpujoin.core.engine;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/**
 * A set of 64-bit integers, as ranges that are sorted, do not touch each other, and include both
 * ends: what every comparison of an integer column with constants comes to. Immutable.
 *
 * @param ranges none for the empty set
 */
public record ValueRanges(List<Range> ranges) implements Serializable {

    /** Most ranges of a set: they are tried one after the other. */
    public static final int MAX_RANGES = 64;

    /**
     * All integers between two.
     *
     * @param to not below {@code from}
     */
    public record Range(long from, long to) implements Serializable {

        public Range {
            if (from > to) {
                throw new IllegalArgumentException(
                        "a range ends at or after its start: from=" + from + ", to=" + to);
            }
        }

        @Override
        public String toString() {
            return from == to ? "" + from : from + ".." + to;
        }
    }

    public ValueRanges {
        ranges = merged(ranges);
        if (ranges.size() > MAX_RANGES) {
            throw new IllegalArgumentException(
                    "a predicate has at most "
                            + MAX_RANGES
                            + " ranges of values (join a dimension of them instead, .semi()):"
                            + " ranges="
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

    /** Both ends are included; empty where {@code to} is below {@code from}. */
    public static ValueRanges between(long from, long to) {
        return new ValueRanges(from > to ? List.of() : List.of(new Range(from, to)));
    }

    public static ValueRanges in(long... values) {
        return new ValueRanges(LongStream.of(values).mapToObj(v -> new Range(v, v)).toList());
    }

    public static ValueRanges atMost(long value) {
        return between(Long.MIN_VALUE, value);
    }

    public static ValueRanges atLeast(long value) {
        return between(value, Long.MAX_VALUE);
    }

    public static ValueRanges lessThan(long value) {
        return value == Long.MIN_VALUE ? in() : atMost(value - 1);
    }

    public static ValueRanges greaterThan(long value) {
        return value == Long.MAX_VALUE ? in() : atLeast(value + 1);
    }

    public static ValueRanges notEqualTo(long value) {
        return lessThan(value).or(greaterThan(value));
    }

    /** The integers of either set. */
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
