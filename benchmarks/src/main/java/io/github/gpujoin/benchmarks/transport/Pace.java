// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.transport;

import java.util.concurrent.TimeUnit;

/** Says when the next payload is due, at a steady rate or at once. */
final class Pace {

    private final long intervalNs;
    private long dueNs = System.nanoTime();

    /**
     * @param share of the shipment's rate that this sender has: 1 of so many
     */
    Pace(Shipment shipment, int share) {
        this.intervalNs =
                shipment.isPaced() ? TimeUnit.SECONDS.toNanos(share) / shipment.perSecond() : 0;
    }

    boolean isDue() {
        return intervalNs == 0 || System.nanoTime() - dueNs >= 0;
    }

    /**
     * When the payload that is sent now was due: time that it had to wait is part of its latency.
     */
    long take() {
        if (intervalNs == 0) {
            return System.nanoTime();
        }
        long due = dueNs;
        dueNs += intervalNs;
        return due;
    }
}
