// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.bulk.ResultSides;
import org.jspecify.annotations.Nullable;

/** Results of one kind, batch by batch. A batch is valid until the next one. Not thread-safe. */
interface BulkBatches {

    /**
     * Returns the next batch of at least one row, or null if there is none. After an interrupt, a
     * further call continues.
     */
    @Nullable BulkBatch next() throws InterruptedException;

    /** Counts results. */
    @FunctionalInterface
    interface Counting {
        long count() throws InterruptedException;
    }

    /** Computes marks. */
    @FunctionalInterface
    interface Marking {
        void mark() throws InterruptedException;
    }

    /** Pairs that are only counted. */
    static BulkBatches counted(Counting counting) {
        return new BulkBatches() {
            private boolean isCounted;

            @Override
            public @Nullable BulkBatch next() throws InterruptedException {
                if (isCounted) {
                    return null;
                }
                long count = counting.count();
                isCounted = true;
                return count == 0 ? null : new BulkBatch(ResultSides.BOTH, null, null, count);
            }
        };
    }

    /** All rows of an input. */
    static BulkBatches allRows(JoinSide side, BulkRows rows, long batchRows) {
        return new BulkBatches() {
            private long next;

            @Override
            public @Nullable BulkBatch next() {
                if (next == rows.rowCount()) {
                    return null;
                }
                long first = next;
                next += Math.min(batchRows, rows.rowCount() - first);
                return BulkBatch.of(side, BulkBatch.Rows.from(rows.runs(), first), next - first);
            }
        };
    }

    /** No rows, but marks that are computed. */
    static BulkBatches marked(Marking marking) {
        return () -> {
            marking.mark();
            return null;
        };
    }

    /**
     * The rows of an input whose mark has a value.
     *
     * @param marking computes the marks, when the first batch is due
     * @param marks device address of a byte for each row
     */
    static BulkBatches selectedRows(
            BulkSelection selection,
            JoinSide side,
            BulkRows rows,
            Marking marking,
            long marks,
            boolean wanted) {
        return new BulkBatches() {
            private boolean isMarked;
            private long next;

            @Override
            public @Nullable BulkBatch next() throws InterruptedException {
                if (!isMarked) {
                    marking.mark();
                    isMarked = true;
                }
                while (next < rows.rowCount()) {
                    BulkDevice.checkInterrupt();
                    long first = next;
                    next += Math.min(selection.batchRows(), rows.rowCount() - first);
                    long count = selection.select(marks, wanted, first, next - first);
                    if (count > 0) {
                        return BulkBatch.of(side, selection.rows(rows.runs()), count);
                    }
                }
                return null;
            }
        };
    }
}
