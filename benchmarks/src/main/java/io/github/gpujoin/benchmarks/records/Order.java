// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.records;

/** A fact whose key is two texts. */
public final class Order {

    public long id;
    public double amount;
    public String region;
    public String customer;

    public Order() {}

    Order(long id, double amount, String region, String customer) {
        this.id = id;
        this.amount = amount;
        this.region = region;
        this.customer = customer;
    }
}
