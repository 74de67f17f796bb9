// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.flink;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Holds a sink to a steady rate: who takes rows waits until their time has come. Not thread-safe.
 */
final class SinkPace {

    private final double nsPerRow;
    private long dueNs = System.nanoTime();

    /**
     * @param rowsPerSecond of this sink; 0 for as many as come
     */
    SinkPace(double rowsPerSecond) {
        this.nsPerRow = rowsPerSecond == 0 ? 0 : TimeUnit.SECONDS.toNanos(1) / rowsPerSecond;
    }

    /** Returns when rows taken earlier and these are as few as the rate allows. */
    void take(long rows) {
        if (nsPerRow == 0) {
            return;
        }
        // Time in which no rows came is not made up for.
        dueNs = Math.max(dueNs, System.nanoTime()) + (long) (rows * nsPerRow);
        long waitNs = dueNs - System.nanoTime();
        while (waitNs > 0 && !Thread.currentThread().isInterrupted()) {
            LockSupport.parkNanos(waitNs);
            waitNs = dueNs - System.nanoTime();
        }
    }
}
