package io.github.gpujoin.core.engine;

import java.io.Serializable;
import java.util.List;

/**
 * A sum over the rows of a group, of the product of up to two columns; of no column, it is the
 * number of rows. 64-bit: products and sums wrap around.
 *
 * @param factors fixed INT32 or INT64 columns
 */
public record Aggregate(List<JoinColumn> factors) implements Serializable {

    public static final int MAX_FACTORS = 2;

    public Aggregate {
        factors = List.copyOf(factors);
        if (factors.size() > MAX_FACTORS) {
            throw new IllegalArgumentException(
                    "a sum is of a product of at most "
                            + MAX_FACTORS
                            + " columns: factors="
                            + factors);
        }
    }

    /** {@code count(*)}. */
    public static Aggregate count() {
        return new Aggregate(List.of());
    }

    /** {@code sum(column)}. */
    public static Aggregate sum(JoinColumn column) {
        return new Aggregate(List.of(column));
    }

    /** {@code sum(first * second)}. */
    public static Aggregate sumOfProduct(JoinColumn first, JoinColumn second) {
        return new Aggregate(List.of(first, second));
    }
}
