// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.model;

import java.util.List;

/**
 * Rows of one device, in columns.
 *
 * @param rows a rate may be asked for fractions of rows
 */
record Table(double rows, int keyBytes, List<Integer> payloadColumnBytes) {

    Table {
        payloadColumnBytes = List.copyOf(payloadColumnBytes);
    }

    int payloadBytes() {
        return payloadColumnBytes.stream().mapToInt(Integer::intValue).sum();
    }

    int rowBytes() {
        return keyBytes + payloadBytes();
    }

    int columns() {
        return 1 + payloadColumnBytes.size();
    }

    double bytes() {
        return rows * rowBytes();
    }
}
