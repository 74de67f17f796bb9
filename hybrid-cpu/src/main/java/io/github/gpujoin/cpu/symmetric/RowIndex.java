// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.symmetric;

/** Finds the rows of all inputs by key: in host memory, or on a device. */
interface RowIndex extends AutoCloseable {

    /** Whether the links of rows contain their chains. */
    boolean isOnHost();

    /**
     * Returns the chains of an input.
     *
     * @param links of the rows of the input
     * @param isRemovable whether rows leave
     */
    KeyChains chains(int input, RowLinks links, boolean isRemovable);

    /** Returns the bytes that are not of the allocator of the tables. */
    long deviceBytes();

    @Override
    void close();
}
