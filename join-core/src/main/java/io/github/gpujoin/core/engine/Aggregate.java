// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.engine;

import java.io.Serializable;
import java.util.List;

/**
 * The sum, over the rows of a group, of a product of up to two columns. Without columns, it is the
 * number of rows. Products and sums have 64 bits and wrap around.
 *
 * @param factors 0 to {@value #MAX_FACTORS} fixed-width integer columns, widened to 64 bits before
 *     they are multiplied; {@link JoinSpec} checks their types
 */
public record Aggregate(List<JoinColumn> factors) implements Serializable {

    public static final int MAX_FACTORS = 2;

    /**
     * Copies the factors.
     *
     * @throws IllegalArgumentException if there are more than {@value #MAX_FACTORS}
     */
    public Aggregate {
        factors = List.copyOf(factors);
        if (factors.size() > MAX_FACTORS) {
            throw new IllegalArgumentException(
                    "An aggregate multiplies more than "
                            + MAX_FACTORS
                            + " columns: factors="
                            + factors);
        }
    }

    /** Returns {@code count(*)}. */
    public static Aggregate count() {
        return new Aggregate(List.of());
    }

    /** Returns {@code sum(column)}. */
    public static Aggregate sum(JoinColumn column) {
        return new Aggregate(List.of(column));
    }

    /** Returns {@code sum(first * second)}. */
    public static Aggregate sumOfProduct(JoinColumn first, JoinColumn second) {
        return new Aggregate(List.of(first, second));
    }
}
