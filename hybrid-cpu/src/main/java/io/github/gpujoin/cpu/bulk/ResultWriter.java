// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.bulk;

import io.github.gpujoin.core.bulk.BulkResult;
import io.github.gpujoin.core.bulk.ResultSides;

/** Turns matched tuples into results, for one thread. */
interface ResultWriter {

    /** Receives results. Waits while the join holds as many as it may. */
    @FunctionalInterface
    interface Receiver {
        void receive(BulkResult result) throws InterruptedException;
    }

    /**
     * Adds result rows.
     *
     * @param left addresses of the left tuples, read if the rows have columns of the left input
     * @param right addresses of the right tuples, likewise
     * @param count at most {@link MatchSink#BATCH_ROWS}
     */
    void write(ResultSides sides, long[] left, long[] right, int count) throws InterruptedException;

    /** Passes on what is left. */
    void finish() throws InterruptedException;
}
