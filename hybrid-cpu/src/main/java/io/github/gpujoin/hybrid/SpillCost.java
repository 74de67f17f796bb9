// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

/**
 * Estimates the cost of joining facts with spilled build rows.
 *
 * <p>Deferred probes of a spilled partition are joined once their size is {@value
 * #FACT_BYTES_PER_BUILD_BYTE} times that of its build rows. So many fact bytes share the cost of
 * reading a byte of the log and of building the table of a byte of rows. The estimate assumes that
 * facts are distributed over partitions like build bytes, as the first placement does.
 */
public final class SpillCost {

    // One thread, tuples of 16 bytes, 2 M build rows, the log in RocksDB
    // (docs/decisions/0009-deferred-probes.md).
    private static final double PROBE_NS_PER_BYTE = 2.2;
    private static final double READ_NS_PER_BYTE = 2.5;
    private static final double BUILD_NS_PER_BYTE = 2.6;

    /**
     * A larger factor lengthens the wait and the state of every checkpoint, at a diminishing gain.
     */
    private static final int FACT_BYTES_PER_BUILD_BYTE = 4;

    private SpillCost() {}

    /**
     * Returns the bytes of facts that justify building temporary tables of {@code buildBytes} build
     * rows.
     */
    static long worthwhileFactBytes(long buildBytes) {
        return FACT_BYTES_PER_BUILD_BYTE * buildBytes;
    }

    /**
     * Returns the ratio of the mean CPU time of a fact with spilled build rows to that without, at
     * least 1. Does not include the wait of deferred probes.
     *
     * @param spilledBytes bytes of build rows without tables
     * @param allBytes bytes of all build rows, at least {@code spilledBytes}
     */
    public static double timesAsLong(long spilledBytes, long allBytes) {
        if (spilledBytes == 0) {
            return 1;
        }
        double share = (double) spilledBytes / allBytes;
        double tablesNsPerByte = (READ_NS_PER_BYTE + BUILD_NS_PER_BYTE) / FACT_BYTES_PER_BUILD_BYTE;
        return 1 + share * tablesNsPerByte / PROBE_NS_PER_BYTE;
    }
}
