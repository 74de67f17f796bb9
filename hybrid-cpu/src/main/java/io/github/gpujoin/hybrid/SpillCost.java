package io.github.gpujoin.hybrid;

/**
 * How many facts a spilled partition waits for, and how much longer facts take where some build
 * rows have no tables, as far as that can be told before they come.
 *
 * <p>Facts of a spilled partition are joined when they are {@value #FACT_BYTES_PER_BUILD_BYTE}
 * times as many bytes as its build rows. So as many bytes of them share the reading of a byte of
 * the log, and the making of tables of a byte of rows, beside the probe. Facts are taken to fall on
 * partitions by the bytes of their rows, as the first placement takes them to.
 */
public final class SpillCost {

    // One thread, tuples of 16 bytes, 2 M build rows, the log in RocksDB
    // (docs/performance-notes.md, "Less memory than rows").
    private static final double PROBE_NS_PER_BYTE = 2.2;
    private static final double READ_NS_PER_BYTE = 2.5;
    private static final double BUILD_NS_PER_BYTE = 2.6;

    /** More of them would wait longer, in state that every checkpoint holds, for ever less. */
    private static final int FACT_BYTES_PER_BUILD_BYTE = 4;

    private SpillCost() {}

    /** Bytes of facts for which tables of so many bytes of build rows are made for a while. */
    static long worthwhileFactBytes(long buildBytes) {
        return FACT_BYTES_PER_BUILD_BYTE * buildBytes;
    }

    /**
     * How many times as long facts take as with memory for all tables.
     *
     * @param spilledBytes of build rows without tables
     * @param allBytes of build rows, at least as many
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
