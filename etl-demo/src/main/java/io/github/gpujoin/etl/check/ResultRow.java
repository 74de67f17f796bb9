// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.etl.check;

/** A row of the results, from the topic or from the table. */
public record ResultRow(
        long orderId,
        int customer,
        int product,
        int quantity,
        int customerVersion,
        String segment,
        int productVersion,
        int priceCents) {

    /** A hash of all columns; sums of hashes compare sets of rows in any order. */
    long hash() {
        long hash = orderId;
        for (long column :
                new long[] {
                    customer,
                    product,
                    quantity,
                    customerVersion,
                    segment.hashCode(),
                    productVersion,
                    priceCents
                }) {
            hash = (hash ^ column) * 0x9E3779B97F4A7C15L;
            hash ^= hash >>> 29;
        }
        return hash;
    }
}
