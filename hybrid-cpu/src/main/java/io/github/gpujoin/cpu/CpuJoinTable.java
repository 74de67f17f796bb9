package io.github.gpujoin.cpu;

import io.github.gpujoin.core.region.PagedMemory;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The rows of one dimension, to be found by key. Immutable, so threads share it; counted, so the
 * last owner frees it.
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

    /** Whether no key has two rows. */
    abstract boolean isUnique();

    /** Whether {@link #rowLookup} may be asked for. */
    abstract boolean hasRowLookup();

    /**
     * Finds the addresses of rows; for one thread.
     *
     * @param maxKeys the most keys looked up at once
     * @param memory outlives the lookup
     */
    abstract KeyLookup addressLookup(int maxKeys, PagedMemory memory);

    /** Finds rows, each one 8-byte field, and gives them in place of their addresses. */
    abstract KeyLookup rowLookup();

    /** Address of the next row of the same key as a row's, 0 where there is none. */
    abstract long nextMatch(long row);

    /** Bytes of all parts. */
    abstract long lengthBytes();

    /** Gives back all parts. */
    abstract void free();

    /** Adds an owner, who closes the table too. */
    final CpuJoinTable retain() {
        int before = owners.getAndUpdate(n -> n == 0 ? 0 : n + 1);
        if (before == 0) {
            throw new IllegalStateException("a table that was freed has no owner: owners=0");
        }
        return this;
    }

    /** Ends one ownership; the last one frees the memory. */
    @Override
    public final void close() {
        if (owners.decrementAndGet() == 0) {
            free();
        }
    }
}
