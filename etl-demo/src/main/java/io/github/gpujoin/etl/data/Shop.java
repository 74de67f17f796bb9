// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.etl.data;

/**
 * All orders, customers and products of a run, as functions of its seed. Any process computes any
 * row, without reading the others.
 *
 * <p>Versions of a customer or product count from 1. Version 1 exists before the first order; each
 * later one is one update. Updates are numbered, and update {@code u} changes the row of {@link
 * #updatedCustomer} or {@link #updatedProduct}.
 *
 * @param seed of every value
 * @param customers number of customers, with ids from 0
 * @param products number of products, with ids from 0
 */
public record Shop(long seed, int customers, int products) {

    private static final String[] SEGMENTS = {
        "AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY"
    };

    /** One order in this many is of customer 0, a heavy hitter. */
    private static final int HEAVY_HITTER_SHARE = 10;

    private static final int MAX_QUANTITY = 50;
    private static final int MAX_PRICE_CENTS = 100_000;

    /** An order. */
    public record Order(long id, int customer, int product, int quantity) {}

    /**
     * Rejects too few customers or products: each partition of their topics has one at least.
     *
     * @throws IllegalArgumentException with both numbers
     */
    public Shop {
        if (customers < Topics.PARTITIONS || products < Topics.PARTITIONS) {
            throw new IllegalArgumentException(
                    "Too few customers or products: customers=%d, products=%d. Use %d or more."
                            .formatted(customers, products, Topics.PARTITIONS));
        }
    }

    /** Returns an order. */
    public Order order(long id) {
        long random = mix(1, id);
        int customer = below(random, HEAVY_HITTER_SHARE) == 0 ? 0 : below(mix(2, id), customers);
        int quantity = 1 + below(mix(4, id), MAX_QUANTITY);
        return new Order(id, customer, below(mix(3, id), products), quantity);
    }

    /** Returns the segment of a version of a customer. */
    public String segment(int customer, int version) {
        return SEGMENTS[below(mix(5, pair(customer, version)), SEGMENTS.length)];
    }

    /** Returns the price of a version of a product. */
    public int priceCents(int product, int version) {
        return 1 + below(mix(6, pair(product, version)), MAX_PRICE_CENTS);
    }

    /** Returns the customer that an update changes. */
    public int updatedCustomer(long update) {
        return below(mix(7, update), customers);
    }

    /** Returns the product that an update changes. */
    public int updatedProduct(long update) {
        return below(mix(8, update), products);
    }

    private long mix(int stream, long index) {
        // SplitMix64 (Steele, Lea, Flood, 2014) over seed, stream and index.
        long z = seed * 0x9E3779B97F4A7C15L + stream * 0xD1B54A32D192ED03L + index;
        z += 0x9E3779B97F4A7C15L;
        z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        z ^= z >>> 31;
        z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        return z ^ (z >>> 32);
    }

    private static long pair(int key, int version) {
        return ((long) key << 32) | version;
    }

    private static int below(long random, int bound) {
        return (int) ((random >>> 33) % bound);
    }
}
