// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import org.jspecify.annotations.Nullable;

/** Finds the first row of each key of a batch. Not thread-safe: one lookup for each thread. */
interface KeyLookup {

    /**
     * Numbers the keys from {@code firstNumber} on and keeps those that have a row.
     *
     * @param base array that {@code keys} is an offset in; null if {@code keys} is an address
     * @param keys {@code int64[count]}
     * @param numbers address of room for {@code int32[count]}: numbers of the keys found, ascending
     * @param matches address of room for {@code int64[count]}: addresses of their first rows, or
     *     the rows themselves for a {@linkplain CpuJoinTable#rowLookup() row lookup}
     * @return number of keys found
     */
    int findFirst(
            byte @Nullable [] base,
            long keys,
            int count,
            int firstNumber,
            long numbers,
            long matches);
}
