package io.github.gpujoin.hybrid;

import java.util.concurrent.TimeUnit;

/**
 * How a build side is divided.
 *
 * @param partitionedDimension the dimension that is divided; all units need the others
 * @param firstPartition of the radix partitions that come here
 * @param partitions how many come here, one after the other; at 1, chunks need not be partitioned
 * @param units to divide it into, at most one for each partition; 0 to choose by what it needs
 * @param windowRows recent probe rows by which units are placed anew
 * @param memoryWaitNs longest time to wait for memory without which facts cannot be joined, and
 *     which others of the process hold
 */
public record HybridOptions(
        int partitionedDimension,
        int firstPartition,
        int partitions,
        int units,
        long windowRows,
        long memoryWaitNs) {

    /** Most units that can be asked for. */
    public static final int MAX_UNITS = 128;

    private static final long DEFAULT_WINDOW_ROWS = 16L << 20;
    private static final long DEFAULT_MEMORY_WAIT_NS = TimeUnit.SECONDS.toNanos(30);

    public HybridOptions {
        if (partitions < 1 || windowRows < 1) {
            throw new IllegalArgumentException(
                    "partitions and window are positive: partitions="
                            + partitions
                            + ", windowRows="
                            + windowRows);
        }
        if (units < 0 || units > MAX_UNITS) {
            throw new IllegalArgumentException(
                    "a build side is divided into 1 to "
                            + MAX_UNITS
                            + " units, 0 to choose: units="
                            + units);
        }
    }

    public HybridOptions(int partitionedDimension, int firstPartition, int partitions, int units) {
        this(
                partitionedDimension,
                firstPartition,
                partitions,
                units,
                DEFAULT_WINDOW_ROWS,
                DEFAULT_MEMORY_WAIT_NS);
    }

    HybridOptions withWindowRows(long windowRows) {
        return new HybridOptions(
                partitionedDimension, firstPartition, partitions, units, windowRows, memoryWaitNs);
    }

    HybridOptions withMemoryWaitNs(long memoryWaitNs) {
        return new HybridOptions(
                partitionedDimension, firstPartition, partitions, units, windowRows, memoryWaitNs);
    }
}
