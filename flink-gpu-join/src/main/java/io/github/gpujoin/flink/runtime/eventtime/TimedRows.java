// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.eventtime;

/** Rows that wait for their event time. */
interface TimedRows {

    /** Event time of the first row, in ms. */
    long time();

    /** Event time of the last row, in ms. */
    long lastTime();

    /** Count of the rows; at least 1. */
    int waitingCount();

    /** Returns about how many rows have an event time up to the given one, in ms. */
    default double countUpTo(long upTo) {
        if (upTo < time()) {
            return 0;
        }
        if (upTo >= lastTime()) {
            return waitingCount();
        }
        // Times may be so far apart that their difference exceeds a long.
        double share = ((double) upTo - time()) / ((double) lastTime() - time());
        return 1 + share * (waitingCount() - 1);
    }
}
