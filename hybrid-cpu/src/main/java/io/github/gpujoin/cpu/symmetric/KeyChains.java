// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.symmetric;

import java.util.function.IntPredicate;

/** The chains of the rows of one input by key: in host memory, or on a device. */
interface KeyChains extends AutoCloseable {

    /** Makes room for all ids up to one, or for none if it is -1. */
    void reserve(int lastId);

    /** Makes room for a row, so that {@link #add} reserves no memory. */
    void makeRoom(int hash);

    /** Whether {@link #find} is legal. */
    boolean isOnHost();

    /** Returns a row with a key that meets a condition, or -1. */
    int find(long key, int hash, IntPredicate isSame);

    void add(long key, int hash, int id);

    void remove(long key, int hash, int id);

    /** Replaces a row by another one with the same key, which is not in the chains. */
    void replace(long key, int hash, int old, int id);

    /** Does the same where the rows have equal values, and keeps the place in the chain. */
    void move(long key, int hash, int from, int to);

    @Override
    void close();
}
