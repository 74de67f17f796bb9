// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.gpu;

import io.github.gpujoin.kernels.gpu.RingMemory;
import java.util.List;

/**
 * Maximum rates of the machine's memories and bus, medians measured in the same run. Unit: 10^9
 * bytes a second.
 *
 * @param copyInGbPerS copies from host to device
 * @param readGbPerS reads of mapped host memory by a kernel
 * @param writeGbPerS writes to mapped host memory by a kernel
 * @param deviceCopyGbPerS copies within device memory
 */
public record Ceilings(
        double copyInGbPerS, double readGbPerS, double writeGbPerS, double deviceCopyGbPerS) {

    static final String COPY_IN = "h2d-copy";
    static final String READ = "zero-copy-read";
    static final String WRITE = "zero-copy-write";
    static final String DEVICE_COPY = "device-copy";
    static final String PREFIX = "ceiling-";

    /**
     * Selects the ceilings among the figures of a run.
     *
     * @throws IllegalStateException if one is missing
     */
    public static Ceilings of(List<Figure> figures) {
        return new Ceilings(
                median(figures, COPY_IN),
                median(figures, READ),
                median(figures, WRITE),
                median(figures, DEVICE_COPY));
    }

    private static double median(List<Figure> figures, String name) {
        return figures.stream()
                .filter(figure -> figure.name().equals(PREFIX + name))
                .findFirst()
                .orElseThrow(
                        () ->
                                new IllegalStateException(
                                        "The run measured no such ceiling: name=" + name))
                .summary()
                .median();
    }

    /**
     * Bounds a rate of rows, 10^9 a second, by the slower direction of the bus: facts are read by
     * the kernel, or copied to a ring in device memory, and results are written by the kernel.
     *
     * @param rows the rate to bound, in 10^9 rows a second
     * @param bytesIn bytes of a fact row on the bus
     * @param bytesOut bytes of all results of a fact row on the bus; 0 if results are only counted
     */
    Figure bound(Figure rows, RingMemory ringMemory, double bytesIn, double bytesOut) {
        boolean copied = ringMemory == RingMemory.DEVICE;
        double in = (copied ? copyInGbPerS : readGbPerS) / bytesIn;
        double out = bytesOut == 0 ? Double.POSITIVE_INFINITY : writeGbPerS / bytesOut;
        return in <= out ? rows.boundedBy(copied ? COPY_IN : READ, in) : rows.boundedBy(WRITE, out);
    }
}
