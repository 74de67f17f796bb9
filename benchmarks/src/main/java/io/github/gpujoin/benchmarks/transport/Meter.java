// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.transport;

import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/** Measures a stream for a time, after a time that warms it up. */
public final class Meter {

    private static final long START_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(60);

    /**
     * Bytes in a second, processor time for them, and the times from being sent to having arrived.
     */
    public record Figure(
            double gigabytesPerSecond, double cpuSecondsPerGigabyte, Histogram latencyNs) {

        public double latencyMicros(double percentile) {
            return latencyNs.getValueAtPercentile(percentile) / 1e3;
        }
    }

    private final long warmUpMs;
    private final long measureMs;

    public Meter(long warmUpMs, long measureMs) {
        this.warmUpMs = warmUpMs;
        this.measureMs = measureMs;
    }

    public Figure measure(Stream.Opener opener, Shipment shipment) throws Exception {
        try (Stream stream = opener.open(shipment)) {
            awaitFirst(stream);
            Thread.sleep(warmUpMs);
            stream.arrivals().drainLatencyNs();
            long startBytes = stream.arrivals().bytes();
            long startCpuNs = stream.cpuNs();
            long startNs = System.nanoTime();
            Thread.sleep(measureMs);
            long bytes = stream.arrivals().bytes() - startBytes;
            long elapsedNs = System.nanoTime() - startNs;
            stream.check();
            long cpuNs = stream.cpuNs() - startCpuNs;
            return new Figure(
                    (double) bytes / elapsedNs,
                    (double) cpuNs / bytes,
                    stream.arrivals().drainLatencyNs());
        }
    }

    private static void awaitFirst(Stream stream) throws Exception {
        long startNs = System.nanoTime();
        while (stream.arrivals().bytes() == 0) {
            stream.check();
            if (System.nanoTime() - startNs > START_TIMEOUT_NS) {
                throw new IllegalStateException("a stream starts in 60 s");
            }
            Thread.sleep(10);
        }
    }
}
