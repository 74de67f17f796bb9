// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.filter;

import java.io.Serializable;

/**
 * A necessary condition on a 64-bit value: a row whose value fails it has no result. Immutable and
 * thread-safe.
 */
public interface LongCondition extends Serializable {

    /** Whether a row of the value may have a result. */
    boolean mayAccept(long value);

    /**
     * Whether a row whose value is in a range may have a result.
     *
     * @param from smallest value of the range
     * @param to largest value of the range
     */
    boolean mayAcceptAny(long from, long to);

    /**
     * Moves the rows that may have results to the front, in their order.
     *
     * @param values value of each row, by row number
     * @param rows row numbers, of which the first {@code count} are tested and replaced
     * @return number of rows that remain
     */
    int select(long[] values, int[] rows, int count);
}
