// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.records;

/** A result. */
public final class PricedOrder {

    public long id;
    public double amount;
    public String segment;
    public double discount;

    public PricedOrder() {}

    PricedOrder(long id, double amount, String segment, double discount) {
        this.id = id;
        this.amount = amount;
        this.segment = segment;
        this.discount = discount;
    }
}
