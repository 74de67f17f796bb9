// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.model;

import java.util.function.DoubleUnaryOperator;

/** Finds the value of a constant at which the model meets a condition. */
final class Fit {

    private static final int HALVINGS = 100;

    private Fit() {}

    /**
     * Returns the zero of a monotone function, by bisection.
     *
     * @throws IllegalArgumentException if the function has one sign at both ends
     */
    static double zero(DoubleUnaryOperator function, double low, double high) {
        double atLow = function.applyAsDouble(low);
        double atHigh = function.applyAsDouble(high);
        if (!(atLow * atHigh <= 0)) {
            throw new IllegalArgumentException(
                    "Function has one sign at both ends: low=%s, high=%s, values=%s, %s. Widen the range."
                            .formatted(low, high, atLow, atHigh));
        }
        double from = low;
        double to = high;
        for (int i = 0; i < HALVINGS; i++) {
            double middle = (from + to) / 2;
            if (function.applyAsDouble(middle) * atLow > 0) {
                from = middle;
            } else {
                to = middle;
            }
        }
        return (from + to) / 2;
    }
}
