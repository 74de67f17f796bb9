// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What is known so far of probe rows of which more results may come. As a rule that is one row at a
 * time; but where an engine passes over a build side slice by slice, no row of a chunk is complete
 * before the last slice, and each slice goes through the rows again. Not thread-safe.
 *
 * @param <S> what is known of a row
 */
final class IncompleteProbeRows<S> {

    /** Does what is left to do for a row that is complete. */
    @FunctionalInterface
    interface Settlement<S> {
        void settle(int probeRow, S known) throws Exception;
    }

    private static final int NONE = -1;

    private final Supplier<S> unknown;
    private final Settlement<S> settlement;

    /** What is known of each row of the chunk; null of one that is settled or did not come. */
    private Object[] known = {};

    /** Rows that are not settled are from here on, and before {@link #end}. */
    private int begin = Integer.MAX_VALUE;

    private int end;

    /** The row that results come of. */
    private int row = NONE;

    IncompleteProbeRows(Supplier<S> unknown, Settlement<S> settlement) {
        this.unknown = unknown;
        this.settlement = settlement;
    }

    boolean isAt(int probeRow) {
        return row == probeRow;
    }

    /** What is known of the row that results come of; null where there is none. */
    @Nullable S known() {
        return row == NONE ? null : knownOf(row);
    }

    /** Says what is known of it from now on. */
    void know(S now) {
        known[row] = now;
    }

    @SuppressWarnings("unchecked")
    private S knownOf(int probeRow) {
        return (S) known[probeRow];
    }

    /**
     * Goes to another row, and settles the last one where it is complete.
     *
     * @param completedRows rows of the chunk that are complete with the batch of this row
     */
    void goTo(int probeRow, int completedRows) throws Exception {
        // Rows of a batch ascend: one that lies ahead may come again.
        if (row != NONE && row < completedRows && row < probeRow) {
            settle(row);
        }
        row = probeRow;
        begin = Math.min(begin, row);
        end = Math.max(end, row + 1);
        if (row >= known.length) {
            known = Arrays.copyOf(known, Math.max(row + 1, 2 * known.length));
        }
        if (known[row] == null) {
            known[row] = unknown.get();
        }
    }

    /** Settles all rows before {@code completedRows}, in order. */
    void completed(int completedRows) throws Exception {
        for (; begin < Math.min(completedRows, end); begin++) {
            if (known[begin] != null) {
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
        S last = knownOf(probeRow);
        known[probeRow] = null;
        settlement.settle(probeRow, last);
    }

    /** What is known of all rows that are not settled. */
    @SuppressWarnings("unchecked")
    List<S> unsettled() {
        return (List<S>) Arrays.stream(known).filter(Objects::nonNull).toList();
    }
}
