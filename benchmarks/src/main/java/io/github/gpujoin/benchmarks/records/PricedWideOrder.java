// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.records;

/** A wide fact with all of its columns, and two columns of its customer. */
public final class PricedWideOrder {

    public long id;
    public long customer;
    public double amount;
    public long shop;
    public long clerk;
    public long product;
    public long invoice;
    public int quantity;
    public int line;
    public int currency;
    public double tax;
    public double shipping;
    public double weight;
    public double rebate;
    public boolean express;
    public String comment;
    public String street;
    public String city;
    public String status;
    public String priority;
    public String segment;
    public double discount;
}
