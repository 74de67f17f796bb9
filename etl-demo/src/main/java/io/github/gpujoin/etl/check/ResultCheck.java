// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.etl.check;

import io.github.gpujoin.etl.data.Shop;
import java.util.Arrays;
import java.util.BitSet;

/**
 * Counts the rows of one result that are lost, duplicated or wrong.
 *
 * <p>Which version of a customer an order meets depends on the order of arrival, so any version
 * that the generator wrote is right, with the values of that version. Every other column is a
 * function of the order's id. Not thread-safe.
 */
public final class ResultCheck {

    private final Shop shop;
    private final BitSet seen = new BitSet();
    private final int[] latestCustomer;
    private final int[] latestProduct;
    private long rows;
    private long duplicated;
    private long wrong;
    private long hash;
    private String firstWrong = "";

    /** Creates a check of no rows. */
    public ResultCheck(Shop shop) {
        this.shop = shop;
        latestCustomer = new int[shop.customers()];
        latestProduct = new int[shop.products()];
    }

    /**
     * What the check found.
     *
     * @param lost orders without a row
     * @param duplicated rows beyond the first one of each order
     * @param wrong rows with a value that no order or version has
     * @param firstWrong the first of these, or an empty text
     * @param hash equal for equal rows, in any order
     */
    public record Outcome(
            long rows, long lost, long duplicated, long wrong, String firstWrong, long hash) {

        /** Returns whether each order has one right row. */
        public boolean isExact() {
            return lost == 0 && duplicated == 0 && wrong == 0;
        }
    }

    /** Adds a row. */
    public void add(ResultRow row) {
        rows++;
        hash += row.hash();
        if (row.orderId() < 0 || row.orderId() > Integer.MAX_VALUE || !hasRightValues(row)) {
            countWrong(row.toString());
            return;
        }
        int id = (int) row.orderId();
        if (seen.get(id)) {
            duplicated++;
        }
        seen.set(id);
        int[] customers = latestCustomer;
        customers[row.customer()] = Math.max(customers[row.customer()], row.customerVersion());
        int[] products = latestProduct;
        products[row.product()] = Math.max(products[row.product()], row.productVersion());
    }

    private boolean hasRightValues(ResultRow row) {
        Shop.Order order = shop.order(row.orderId());
        return row.customer() == order.customer()
                && row.product() == order.product()
                && row.quantity() == order.quantity()
                && row.customerVersion() > 0
                && row.productVersion() > 0
                && row.segment().equals(shop.segment(row.customer(), row.customerVersion()))
                && row.priceCents() == shop.priceCents(row.product(), row.productVersion());
    }

    private void countWrong(String row) {
        wrong++;
        if (firstWrong.isEmpty()) {
            firstWrong = row;
        }
    }

    /** Returns the number of distinct orders so far. */
    public long orders() {
        return seen.cardinality();
    }

    /**
     * Compares the rows with what the generator wrote.
     *
     * @param orders number of orders
     * @param updates number of updates of each dimension
     */
    public Outcome compare(long orders, long updates) {
        requireWritten(updates);
        if (seen.length() > orders) {
            countWrong("order " + (seen.length() - 1) + " of " + orders);
        }
        long found = seen.get(0, (int) orders).cardinality();
        return new Outcome(rows, orders - found, duplicated, wrong, firstWrong, hash);
    }

    /** Versions that were never written are wrong, whatever their values. */
    private void requireWritten(long updates) {
        int[] customers = new int[shop.customers()];
        int[] products = new int[shop.products()];
        Arrays.fill(customers, 1);
        Arrays.fill(products, 1);
        for (long update = 0; update < updates; update++) {
            customers[shop.updatedCustomer(update)]++;
            products[shop.updatedProduct(update)]++;
        }
        requireAtMost("customer", latestCustomer, customers);
        requireAtMost("product", latestProduct, products);
    }

    private void requireAtMost(String dimension, int[] joined, int[] written) {
        for (int id = 0; id < joined.length; id++) {
            if (joined[id] > written[id]) {
                countWrong(
                        "%s %d, version %d of %d"
                                .formatted(dimension, id, joined[id], written[id]));
            }
        }
    }
}
