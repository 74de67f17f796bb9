package io.github.gpujoin.flink.emit;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * What is known so far of probe rows of which more results may come. As a rule that is one row at a
 * time; but where an engine passes over a build side slice by slice, no row of a chunk is complete
 * before the last slice, and each slice goes through the rows again. Not thread-safe.
 *
 * @param <S> what is known of a row
 */
final class OpenRows<S> {

    /** Does what is left to do for a row that is complete. */
    @FunctionalInterface
    interface Settlement<S> {
        void settle(int probeRow, S known) throws Exception;
    }

    private static final int NONE = -1;

    private final Supplier<S> unknown;
    private final Settlement<S> settlement;

    /** Rows that were left before they were complete. */
    private final TreeMap<Integer, S> left = new TreeMap<>();

    private int row = NONE;
    private S known;

    OpenRows(Supplier<S> unknown, Settlement<S> settlement) {
        this.unknown = unknown;
        this.settlement = settlement;
    }

    boolean isAt(int probeRow) {
        return row == probeRow;
    }

    /** What is known of the row that results come of. */
    S known() {
        return known;
    }

    /**
     * Goes to another row, and settles the last one where it is complete.
     *
     * @param completedRows rows of the chunk that are complete with the batch of this row
     */
    void goTo(int probeRow, int completedRows) throws Exception {
        // Rows of a batch ascend: one that lies ahead may come again.
        if (row != NONE && row < completedRows && row < probeRow) {
            settlement.settle(row, known);
        } else if (row != NONE) {
            left.put(row, known);
        }
        S before = left.remove(probeRow);
        known = before == null ? unknown.get() : before;
        row = probeRow;
    }

    /** Settles all rows before {@code completedRows}, in order. */
    void completed(int completedRows) throws Exception {
        if (row != NONE && row < completedRows) {
            left.put(row, known);
            row = NONE;
        }
        while (!left.isEmpty() && left.firstKey() < completedRows) {
            Map.Entry<Integer, S> first = left.pollFirstEntry();
            settlement.settle(first.getKey(), first.getValue());
        }
    }

    /** All rows that are not settled. */
    Collection<S> unsettled() {
        List<S> all = new ArrayList<>(left.values());
        if (row != NONE) {
            all.add(known);
        }
        return all;
    }
}
