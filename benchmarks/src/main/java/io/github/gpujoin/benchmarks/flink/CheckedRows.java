// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.flink;

import io.github.gpujoin.core.layout.Chunk;
import java.util.Iterator;
import java.util.List;

/**
 * Adds up the results of every n-th fact chunk of a subtask. Each fact has one result, and the
 * results of a subtask are in the order of its facts, so the number of a result tells its chunk;
 * where one of that does not hold, the sum is wrong. Not thread-safe.
 */
final class CheckedRows {

    private final int interval;
    private final Iterator<Chunk> facts;
    private int chunk = -1;

    /** Facts of the chunk whose results have not come. */
    private int left;

    /**
     * @param facts all chunks of the subtask, in order
     * @param interval n, at least 1
     */
    CheckedRows(List<Chunk> facts, int interval) {
        this.facts = facts.iterator();
        this.interval = interval;
    }

    /** Returns the sum of the payloads of those rows of the next result that are checked. */
    <R> long sum(Tally<R> tally, R result) {
        int rows = tally.rows(result);
        if (interval == 1) {
            return tally.payloads(result, 0, rows);
        }
        long sum = 0;
        for (int row = 0; row < rows; ) {
            if (left == 0) {
                chunk++;
                // Too many results are counted, so they are noticed.
                left = facts.hasNext() ? facts.next().rowCount() : Integer.MAX_VALUE;
            }
            int count = Math.min(left, rows - row);
            if (chunk % interval == 0) {
                sum += tally.payloads(result, row, count);
            }
            left -= count;
            row += count;
        }
        return sum;
    }
}
