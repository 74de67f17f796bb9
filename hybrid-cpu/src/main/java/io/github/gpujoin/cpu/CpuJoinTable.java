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

    /**
     * Makes the kind of table that the keys allow and empties the staging.
     *
     * @param keepsRepeats whether rows of a key after the first one matter
     */
    static CpuJoinTable build(BuildStaging staging, boolean keepsRepeats) {
        SlotFunction slotFunction =
                SlotFunction.of(
                        staging.rowCount(),
                        staging.layout().rowBytes(),
                        staging.minKey(),
                        staging.maxKey());
        CpuJoinTable direct = DirectTableBuilder.build(staging, slotFunction, keepsRepeats);
        return direct != null ? direct : ranked(staging, slotFunction, keepsRepeats);
    }

    private static CpuJoinTable ranked(
            BuildStaging staging, SlotFunction slotFunction, boolean keepsRepeats) {
        int bucketShift = RankedTableBuilder.bucketShift(slotFunction, staging.rowCount());
        try (SlotPartitions partitions = SlotPartitions.of(staging, slotFunction, bucketShift)) {
            CpuJoinTable unique =
                    UniqueRankedBuilder.build(staging, partitions, slotFunction, keepsRepeats);
            return unique != null
                    ? unique
                    : RankedTableBuilder.build(staging, partitions, slotFunction, keepsRepeats);
        }
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
