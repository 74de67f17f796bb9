// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.filter;

import java.util.Arrays;
import java.util.List;

/**
 * Selects the rows of batches that may have results, by conditions on some of their columns. It
 * samples each condition, tests the one that drops most rows first, and suspends conditions that
 * drop too few to pay. Not thread-safe.
 */
public final class RowPruner {

    /**
     * A condition on a column.
     *
     * @param column number of the column, which the user of the pruner defines
     */
    public record ColumnTest(int column, LongCondition condition) {}

    /** The columns of a batch. */
    @FunctionalInterface
    public interface Columns {

        /**
         * Tests rows, and moves those that may have results to the front, in their order.
         *
         * @param rows row numbers, ascending, of which the first {@code count} are tested
         * @return number of rows that remain
         */
        int select(int column, LongCondition condition, int[] rows, int count);
    }

    /** Rows after which the use of a condition is decided again. */
    private static final int WINDOW_ROWS = 1 << 13;

    /**
     * Windows that a condition is first suspended for. Each further time in a row doubles them, so
     * that tests of a condition that never pays soon cost a thousandth of its time.
     */
    private static final int MIN_SUSPENDED_WINDOWS = 64;

    private static final int MAX_SUSPENDED_WINDOWS = 1024;

    /** A condition and what it did lately. */
    private static final class Use {

        private final ColumnTest test;
        private long testedRows;
        private long keptRows;
        private long suspendedRows;
        private int suspendedWindows = MIN_SUSPENDED_WINDOWS;

        /** Share of the rows that the condition keeps, as last sampled. */
        private double keptShare;

        Use(ColumnTest test) {
            this.test = test;
        }
    }

    private final double maxKeptShare;

    /** In the order in which they are tested. */
    private final Use[] uses;

    /**
     * @param maxKeptShare a condition that keeps more than this share of the rows is suspended
     */
    public RowPruner(List<ColumnTest> tests, double maxKeptShare) {
        this.maxKeptShare = maxKeptShare;
        this.uses = tests.stream().map(Use::new).toArray(Use[]::new);
    }

    /** Whether a condition would be tested with the next row. */
    public boolean isActive() {
        for (Use use : uses) {
            if (use.suspendedRows <= 0) {
                return true;
            }
        }
        return false;
    }

    /** Counts rows that pass without a test. */
    public void skip(int rowCount) {
        for (Use use : uses) {
            use.suspendedRows -= rowCount;
        }
    }

    /**
     * Moves the rows that may have results to the front, in their order.
     *
     * @param rows row numbers, of which the first {@code count} are tested and replaced
     * @return number of rows that remain
     */
    public int select(Columns columns, int[] rows, int count) {
        int kept = count;
        boolean isDecided = false;
        for (Use use : uses) {
            if (use.suspendedRows > 0) {
                use.suspendedRows -= count;
                continue;
            }
            int tested = kept;
            if (tested > 0) {
                kept = columns.select(use.test.column(), use.test.condition(), rows, tested);
            }
            use.testedRows += tested;
            use.keptRows += kept;
            if (use.testedRows >= WINDOW_ROWS) {
                decide(use);
                isDecided = true;
            }
        }
        if (isDecided) {
            Arrays.sort(uses, (a, b) -> Double.compare(a.keptShare, b.keptShare));
        }
        return kept;
    }

    private void decide(Use use) {
        use.keptShare = (double) use.keptRows / use.testedRows;
        if (use.keptShare > maxKeptShare) {
            use.suspendedRows = (long) use.suspendedWindows * WINDOW_ROWS;
            use.suspendedWindows = Math.min(2 * use.suspendedWindows, MAX_SUSPENDED_WINDOWS);
        } else {
            use.suspendedWindows = MIN_SUSPENDED_WINDOWS;
        }
        use.testedRows = 0;
        use.keptRows = 0;
    }
}
