// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import io.github.gpujoin.core.engine.ValueRanges;
import java.util.Objects;
import org.apache.flink.annotation.PublicEvolving;

/**
 * A condition that compares an integer column of the facts with constants. The engine evaluates it
 * on columns, and creates no object for a row.
 *
 * <pre>{@code
 * StarJoin.ofChunks(lineorders)
 *         .where(column("lo_discount").between(1, 3))
 *         .where(column("lo_quantity").lessThan(25))
 * }</pre>
 *
 * <p>The column must be an int, long, short or byte that cannot be null. It need not be selected.
 * Constants may lie outside the range of its type. Immutable.
 */
@PublicEvolving
public final class ColumnPredicate {

    private final String column;
    private final ValueRanges values;

    private ColumnPredicate(String column, ValueRanges values) {
        this.column = column;
        this.values = values;
    }

    /**
     * Starts a predicate on the named column of the facts.
     *
     * @param name name of a column of the facts, checked when the join is built
     * @return the column, whose methods create the predicate
     */
    public static Column column(String name) {
        return new Column(Objects.requireNonNull(name, "name"));
    }

    /**
     * Returns the name of the compared column.
     *
     * @return its name
     */
    public String column() {
        return column;
    }

    ValueRanges values() {
        return values;
    }

    /** A column of the facts, whose methods create predicates. Immutable. */
    @PublicEvolving
    public static final class Column {

        private final String name;

        private Column(String name) {
            this.name = name;
        }

        private ColumnPredicate isIn(ValueRanges values) {
            return new ColumnPredicate(name, values);
        }

        /**
         * Accepts only the value.
         *
         * @param value constant
         * @return the predicate
         */
        public ColumnPredicate equalTo(long value) {
            return isIn(ValueRanges.in(value));
        }

        /**
         * Accepts all values except the given one.
         *
         * @param value constant
         * @return the predicate
         */
        public ColumnPredicate notEqualTo(long value) {
            return isIn(ValueRanges.notEqualTo(value));
        }

        /**
         * Accepts values less than the given one.
         *
         * @param value constant
         * @return the predicate
         */
        public ColumnPredicate lessThan(long value) {
            return isIn(ValueRanges.lessThan(value));
        }

        /**
         * Accepts values less than or equal to the given one.
         *
         * @param value constant
         * @return the predicate
         */
        public ColumnPredicate lessOrEqual(long value) {
            return isIn(ValueRanges.lessOrEqual(value));
        }

        /**
         * Accepts values greater than the given one.
         *
         * @param value constant
         * @return the predicate
         */
        public ColumnPredicate greaterThan(long value) {
            return isIn(ValueRanges.greaterThan(value));
        }

        /**
         * Accepts values greater than or equal to the given one.
         *
         * @param value constant
         * @return the predicate
         */
        public ColumnPredicate greaterOrEqual(long value) {
            return isIn(ValueRanges.greaterOrEqual(value));
        }

        /**
         * Accepts values between two bounds, both inclusive.
         *
         * @param from smallest value
         * @param to largest value, not below {@code from}
         * @return the predicate
         * @throws IllegalArgumentException if {@code to} is below {@code from}
         */
        public ColumnPredicate between(long from, long to) {
            if (from > to) {
                throw new IllegalArgumentException(
                        "Range of column '%s' ends before its start: from=%d, to=%d. Swap the bounds."
                                .formatted(name, from, to));
            }
            return isIn(ValueRanges.between(from, to));
        }

        /**
         * Accepts any of the values.
         *
         * @param values constants, in any order; if there are none, the predicate accepts no fact
         * @return the predicate
         * @throws IllegalArgumentException if the values form more than 64 ranges of successive
         *     integers
         */
        public ColumnPredicate in(long... values) {
            return isIn(ValueRanges.in(Objects.requireNonNull(values, "values")));
        }
    }
}
