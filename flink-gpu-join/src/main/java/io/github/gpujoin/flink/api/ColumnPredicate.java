package io.github.gpujoin.flink.api;

import io.github.gpujoin.core.engine.ValueRanges;

/**
 * A comparison of an integer column of the facts with constants, which the engine evaluates: on a
 * GPU or column by column, without an object for the row.
 *
 * <pre>{@code
 * StarJoin.ofChunks(lineorders)
 *         .where(column("lo_discount").between(1, 3))
 *         .where(column("lo_quantity").lessThan(25))
 * }</pre>
 *
 * <p>The column is an int, long, short or byte that cannot be null. It need not be in the result.
 * Immutable.
 */
public final class ColumnPredicate {

    private final String column;
    private final ValueRanges values;

    private ColumnPredicate(String column, ValueRanges values) {
        this.column = column;
        this.values = values;
    }

    /** The column that is compared. */
    public static Column column(String name) {
        return new Column(name);
    }

    /** Name of the column that is compared. */
    public String column() {
        return column;
    }

    ValueRanges values() {
        return values;
    }

    /** A column, to be compared. */
    public static final class Column {

        private final String name;

        private Column(String name) {
            this.name = name;
        }

        private ColumnPredicate isIn(ValueRanges values) {
            return new ColumnPredicate(name, values);
        }

        public ColumnPredicate equalTo(long value) {
            return isIn(ValueRanges.in(value));
        }

        public ColumnPredicate notEqualTo(long value) {
            return isIn(ValueRanges.notEqualTo(value));
        }

        public ColumnPredicate lessThan(long value) {
            return isIn(ValueRanges.lessThan(value));
        }

        public ColumnPredicate atMost(long value) {
            return isIn(ValueRanges.atMost(value));
        }

        public ColumnPredicate greaterThan(long value) {
            return isIn(ValueRanges.greaterThan(value));
        }

        public ColumnPredicate atLeast(long value) {
            return isIn(ValueRanges.atLeast(value));
        }

        /** Both ends are included. */
        public ColumnPredicate between(long from, long to) {
            return isIn(ValueRanges.between(from, to));
        }

        /**
         * @throws IllegalArgumentException where the values lie in more than 64 ranges
         */
        public ColumnPredicate in(long... values) {
            return isIn(ValueRanges.in(values));
        }
    }
}
