// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.records;

/** Result of 16 bytes. */
public final class RatedSale {

    public long id;
    public long percent;

    public RatedSale() {}

    RatedSale(long id, long percent) {
        this.id = id;
        this.percent = percent;
    }
}
