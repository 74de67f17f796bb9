// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

/**
 * An integer column of batches of results, widened to 64 bits.
 *
 * @param <B> type of the batches
 */
@FunctionalInterface
public interface LongColumn<B> {

    /** Returns the address of the column as {@code int64[rowCount]}, valid until the next call. */
    long load(B batch);
}
