// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.records;

/** A fact of 20 columns. */
public class WideOrder {

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

    public WideOrder() {}

    WideOrder(long id, long customer) {
        this.id = id;
        this.customer = customer;
        this.amount = id % 1000;
        this.shop = id % 97;
        this.clerk = id % 89;
        this.product = id % 83;
        this.invoice = id / 4;
        this.quantity = (int) (id % 11);
        this.line = (int) (id % 4);
        this.currency = (int) (id % 3);
        this.tax = amount / 5;
        this.shipping = id % 7;
        this.weight = id % 13;
        this.rebate = id % 2;
        this.express = id % 5 == 0;
        this.comment = "leave it at the door";
        this.street = "Station Road 12";
        this.city = "Springfield";
        this.status = "SHIPPED";
        this.priority = "MEDIUM";
    }
}
