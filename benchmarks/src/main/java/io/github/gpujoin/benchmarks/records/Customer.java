// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.records;

/** A dimension row, whose key is a number or two texts. */
public final class Customer {

    public long number;
    public String homeRegion;
    public String name;
    public String segment;
    public double discount;

    public Customer() {}

    Customer(long number, String homeRegion, String name, String segment, double discount) {
        this.number = number;
        this.homeRegion = homeRegion;
        this.name = name;
        this.segment = segment;
        this.discount = discount;
    }
}
