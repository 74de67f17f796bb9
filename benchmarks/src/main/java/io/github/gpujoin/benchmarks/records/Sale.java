// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.records;

/** A fact of 16 bytes. */
public final class Sale {

    public long customer;
    public long id;

    public Sale() {}

    Sale(long customer, long id) {
        this.customer = customer;
        this.id = id;
    }
}
