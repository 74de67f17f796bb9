// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.transport;

import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;

/** What has arrived; written by the receiving threads, read by the one that measures. */
public final class Arrivals {

    private static final long MAX_LATENCY_NS = 60_000_000_000L;

    private final LongAdder bytes = new LongAdder();
    private final Recorder latencyNs = new Recorder(MAX_LATENCY_NS, 3);

    /**
     * @param sentNs by {@link System#nanoTime()}, which on Linux is one clock for all processes of
     *     a host
     */
    void add(int lengthBytes, long sentNs) {
        bytes.add(lengthBytes);
        latencyNs.recordValue(Math.max(0, Math.min(MAX_LATENCY_NS, System.nanoTime() - sentNs)));
    }

    long bytes() {
        return bytes.sum();
    }

    /** Times of the arrivals since the last call, or since the start. */
    Histogram drainLatencyNs() {
        return latencyNs.getIntervalHistogram();
    }
}
