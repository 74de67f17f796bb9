// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

/** Reads an integer of a record, such as a key, without an object for it. */
interface IntegerReader<T> {

    boolean isNull(T record);

    /**
     * Returns the integer of a record where it is not null.
     *
     * @throws IllegalArgumentException if the value is not an integer
     */
    long read(T record);
}
