// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import java.util.concurrent.locks.LockSupport;

/** Pauses between two queries of a device. */
final class Backoff {

    /** Shorter waits do not leave the processor. */
    private static final long SPIN_NS = 100_000;

    /**
     * Shorter waits leave the processor to other threads, but do not sleep: in a virtual machine
     * the timer of a park of microseconds may be late by more than a kernel takes.
     */
    private static final long YIELD_NS = 10_000_000;

    private static final long PARK_NS = 50_000;

    private Backoff() {}

    /**
     * @param waitedNs since the first query
     */
    static void pause(long waitedNs) {
        if (waitedNs < SPIN_NS) {
            Thread.onSpinWait();
        } else if (waitedNs < YIELD_NS) {
            Thread.yield();
        } else {
            LockSupport.parkNanos(PARK_NS);
        }
    }
}
