// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.join;

import java.util.Arrays;
import java.util.Collection;

/** Smallest, middle and largest of some figures. */
public record Summary(double min, double median, double max) {

    /** The median of an even number of figures is the mean of the two in the middle. */
    public static Summary of(Collection<Double> figures) {
        if (figures.isEmpty()) {
            throw new IllegalArgumentException("a summary is of something: figures=[]");
        }
        double[] sorted = figures.stream().mapToDouble(Double::doubleValue).toArray();
        Arrays.sort(sorted);
        int middle = sorted.length / 2;
        double median =
                sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
        return new Summary(sorted[0], median, sorted[sorted.length - 1]);
    }
}
