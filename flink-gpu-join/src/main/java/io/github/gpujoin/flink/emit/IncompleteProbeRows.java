// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The state of probe rows whose results are incomplete. Usually that is one row at a time. If an
 * engine probes a build side slice by slice, no row of a chunk is complete before the last slice,
 * and each slice repeats the rows. Not thread-safe.
 *
 * @param <S> state of a row
 */
final class IncompleteProbeRows<S> {

    /** Emits the remaining results of a complete row. */
    @FunctionalInterface
    interface Settlement<S> {
        void settle(int probeRow, S state) throws Exception;
    }

    private static final int NONE = -1;

    private final Supplier<S> initial;
    private final Settlement<S> settlement;

    /** State by row of the chunk; null if the row is settled or has not arrived. */
    private Object[] states = {};

    /** First row that is not settled; all such rows are before {@link #end}. */
    private int begin = Integer.MAX_VALUE;

    private int end;

    /** Row of the current results. */
    private int row = NONE;

    IncompleteProbeRows(Supplier<S> initial, Settlement<S> settlement) {
        this.initial = initial;
        this.settlement = settlement;
    }

    boolean isAt(int probeRow) {
        return row == probeRow;
    }

    /** Returns the state of the current row, or null if there is none. */
    @Nullable S state() {
        return row == NONE ? null : stateOf(row);
    }

    /** Replaces the state of the current row. */
    void update(S state) {
        states[row] = state;
    }

    @SuppressWarnings("unchecked")
    private S stateOf(int probeRow) {
        return (S) states[probeRow];
    }

    /**
     * Moves to another row, and settles the previous one if it is complete.
     *
     * @param completedRows rows of the chunk that are complete with the batch of this row
     */
    void moveTo(int probeRow, int completedRows) throws Exception {
        // Rows of a batch ascend: one that lies ahead may come again.
        if (row != NONE && row < completedRows && row < probeRow) {
            settle(row);
        }
        row = probeRow;
        begin = Math.min(begin, row);
        end = Math.max(end, row + 1);
        if (row >= states.length) {
            states = Arrays.copyOf(states, Math.max(row + 1, 2 * states.length));
        }
        if (states[row] == null) {
            states[row] = initial.get();
        }
    }

    /** Settles all rows before {@code completedRows}, in order. */
    void completed(int completedRows) throws Exception {
        for (; begin < Math.min(completedRows, end); begin++) {
            if (states[begin] != null) {
                settle(begin);
            }
        }
        if (begin >= end) {
            // the next row may be one of another chunk
            begin = Integer.MAX_VALUE;
            end = 0;
        }
        if (row < completedRows) {
            row = NONE;
        }
    }

    private void settle(int probeRow) throws Exception {
        S last = stateOf(probeRow);
        states[probeRow] = null;
        settlement.settle(probeRow, last);
    }

    /** Returns the states of all rows that are not settled. */
    @SuppressWarnings("unchecked")
    List<S> unsettled() {
        return (List<S>) Arrays.stream(states).filter(Objects::nonNull).toList();
    }
}
