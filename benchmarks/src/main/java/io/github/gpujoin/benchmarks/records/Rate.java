// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.records;

/** A dimension row of 16 bytes. */
public final class Rate {

    public long number;
    public long percent;

    public Rate() {}

    Rate(long number, long percent) {
        this.number = number;
        this.percent = percent;
    }
}
