// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.gpu;

import io.github.gpujoin.kernels.gpu.RingMemory;
import java.util.List;

/** What the machine itself does, measured in the same run: medians, 10^9 bytes a second. */
public record Ceilings(
        double copyInGbPerS, double readGbPerS, double writeGbPerS, double deviceCopyGbPerS) {

    static final String COPY_IN = "h2d-copy";
    static final String READ = "zero-copy-read";
    static final String WRITE = "zero-copy-write";
    static final String DEVICE_COPY = "device-copy";
    static final String PREFIX = "ceiling-";

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
                .orElseThrow(() -> new IllegalStateException("no such ceiling: name=" + name))
                .summary()
                .median();
    }

    /**
     * Bounds a rate of rows, 10^9 a second, by the slower direction of the bus: facts are read by
     * the kernel, or copied to a ring in device memory, and results are written by the kernel.
     *
     * @param bytesIn of a row that is copied to the device
     * @param bytesOut of all its results, copied from the device
     */
    Figure bound(Figure rows, RingMemory ringMemory, double bytesIn, double bytesOut) {
        boolean copied = ringMemory == RingMemory.DEVICE;
        double in = (copied ? copyInGbPerS : readGbPerS) / bytesIn;
        double out = bytesOut == 0 ? Double.POSITIVE_INFINITY : writeGbPerS / bytesOut;
        return in <= out ? rows.boundedBy(copied ? COPY_IN : READ, in) : rows.boundedBy(WRITE, out);
    }
}
