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
     * Tests rows, and moves those that may have results together, in their order.
     *
     * @param values value of each row, by row number
     * @param rows row numbers, of which {@code rows[from]} to {@code rows[end - 1]} are tested
     * @param to index in {@code rows} of the first row that remains, at most {@code from}
     * @return index after the last row that remains
     */
    int select(long[] values, int[] rows, int from, int end, int to);
}
