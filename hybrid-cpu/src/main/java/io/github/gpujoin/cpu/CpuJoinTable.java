// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import io.github.gpujoin.core.region.PagedMemory;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The build rows of one dimension, indexed by key.
 *
 * <p>Threads share a table, which is immutable except for {@link ChangingTable}. Owners are
 * counted; the last one to close the table frees its memory.
 */
abstract class CpuJoinTable implements AutoCloseable {

    private final RowLayout layout;
    private final AtomicInteger owners = new AtomicInteger(1);

    CpuJoinTable(RowLayout layout) {
        this.layout = layout;
    }

    RowLayout layout() {
        return layout;
    }

    /**
     * Returns whether a lookup finds at most one row for a key. Changes may affect it, for the
     * probe chunks that follow.
     */
    abstract boolean isUnique();

    /** Returns whether {@link #rowLookup} is supported. */
    abstract boolean hasRowLookup();

    /**
     * Creates a lookup of row addresses, for one thread.
     *
     * @param maxKeys limit of the keys of one lookup
     * @param memory outlives the lookup
     */
    abstract KeyLookup addressLookup(int maxKeys, PagedMemory memory);

    /**
     * Creates a lookup that returns rows of one 8-byte field instead of their addresses.
     *
     * @throws UnsupportedOperationException unless {@link #hasRowLookup}
     */
    abstract KeyLookup rowLookup();

    /** Returns the address of the next row with the same key; 0 after the last one. */
    abstract long nextMatch(long row);

    /** Returns the memory of the table, in bytes. */
    abstract long lengthBytes();

    /** Frees the memory of the table. */
    abstract void free();

    /**
     * Adds an owner, who must close the table too.
     *
     * @throws IllegalStateException if the table was freed
     */
    final CpuJoinTable retain() {
        int before = owners.getAndUpdate(n -> n == 0 ? 0 : n + 1);
        if (before == 0) {
            throw new IllegalStateException("The table was freed: owners=0");
        }
        return this;
    }

    /** Removes an owner; the last one frees the memory. */
    @Override
    public final void close() {
        if (owners.decrementAndGet() == 0) {
            free();
        }
    }
}
