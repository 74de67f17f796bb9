// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.bulk.ResultSides;
import org.jspecify.annotations.Nullable;

/**
 * Some result rows of a bulk join as row numbers in device memory.
 *
 * @param left null if the results have no columns of the left input
 * @param right null if they have none of the right one
 */
record BulkBatch(ResultSides sides, @Nullable Rows left, @Nullable Rows right, long count) {

    /**
     * Rows of one input.
     *
     * @param runs device address of the addresses of the runs of all rows
     * @param numbers device address of row numbers; 0 for the rows from {@code first} on
     * @param first position of the first row number, or the first row
     * @param widthBytes of a row number: 4 or 8
     */
    record Rows(long runs, long numbers, long first, int widthBytes) {

        static Rows from(long runs, long first) {
            return new Rows(runs, 0, first, Long.BYTES);
        }

        /** Returns the struct RowNumbers of {@code bulk.cu}. */
        long[] numberWords() {
            return new long[] {numbers, first, widthBytes};
        }
    }

    /** Returns results with columns of one input only. */
    static BulkBatch of(JoinSide side, Rows rows, long count) {
        return new BulkBatch(
                ResultSides.of(side),
                side == JoinSide.LEFT ? rows : null,
                side == JoinSide.RIGHT ? rows : null,
                count);
    }

    @Nullable Rows rows(JoinSide side) {
        return side == JoinSide.LEFT ? left : right;
    }
}
