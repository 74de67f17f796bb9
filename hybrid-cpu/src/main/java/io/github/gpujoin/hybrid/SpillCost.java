package io.github.gpujoin.hybrid;

/**
 * How much longer facts take where some build rows have no tables, as far as that can be told
 * before they come.
 *
 * <p>Facts of a spilled partition are joined when they are as many bytes as its build rows. So a
 * byte of them pays for a byte of the log that is read, and for a byte of rows that tables are made
 * of, beside the probe. Facts are taken to fall on partitions by the bytes of their rows, as the
 * first placement takes them to.
 */
public final class SpillCost {

    // One thread, tuples of 16 bytes, 2 M build rows, the log in RocksDB
    // (docs/performance-notes.md, "Less memory than rows").
    private static final double PROBE_NS_PER_BYTE = 2.2;
    private static final double READ_NS_PER_BYTE = 2.5;
    private static final double BUILD_NS_PER_BYTE = 2.6;

    private SpillCost() {}

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
        return 1 + share * (READ_NS_PER_BYTE + BUILD_NS_PER_BYTE) / PROBE_NS_PER_BYTE;
    }
}
