// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.etl.data;

/** Names of the topics. */
public final class Topics {

    /** Orders: JSON objects with the columns {@code order_id}, {@code customer_id} and so on. */
    public static final String ORDERS = "orders";

    /** Changes of customers: JSON objects by key; a record without a value deletes the row. */
    public static final String CUSTOMERS = "customers";

    /** Changes of products, in the same form. */
    public static final String PRODUCTS = "products";

    /** Orders with columns of their customer and product. */
    public static final String RESULTS = "enriched-orders";

    /** Of each topic. A record of key k is in partition k modulo this. */
    public static final int PARTITIONS = 4;

    private Topics() {}
}
