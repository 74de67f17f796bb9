// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.records;

/** A wide fact with all of its columns, and two columns of its customer. */
public final class PricedWideOrder extends WideOrder {

    public String segment;
    public double discount;
}
