// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.region.Memory;

/**
 * Byte layout of a resident join in device memory, the struct ResidentCall of {@code
 * resident_call.h}. The host writes the first line; the plan kernel writes the others.
 *
 * <pre>
 *   0        32       64         104       112
 *   +--------+--------+----------+---------+
 *   | build  | probe  | matches  | memory  |
 *   +--------+--------+----------+---------+
 *   112              120        176      192             512
 *   +----------------+----------+--------+---------------+
 *   | workspaceBytes | launch   | counts | of kernels    |
 *   +----------------+----------+--------+---------------+
 *   table:   keys, payloads, rows, runs                           int64 each
 *   matches: keys, buildPayloads, probePayloads, capacityRows, matchCount
 *   launch:  LaunchShape                                          int32 each
 *   counts:  addresses of the numbers of claimed and of extra items
 * </pre>
 */
final class ResidentCall {

    static final int BYTES = 512;
    static final int BUILD_OFFSET = 0;
    static final int PROBE_OFFSET = 32;
    static final int MATCHES_OFFSET = 64;
    static final int MEMORY_OFFSET = 104;
    static final int WORKSPACE_BYTES_OFFSET = 112;
    static final int LAUNCH_OFFSET = 120;
    static final int CLAIMED_ITEMS_OFFSET = 176;
    static final int EXTRA_ITEMS_OFFSET = 184;
    static final int LAUNCH_BYTES = 56;

    /** Start of the workspace and its regions, in bytes. */
    static final int ALIGNMENT_BYTES = 256;

    /** Maximum rows of a table. */
    static final long MAX_ROWS = 1L << 31;

    /**
     * A table in device memory: two columns, or runs whose rows have their numbers as payloads.
     * Each column and each run is at a multiple of 16 bytes.
     *
     * @param keys address of {@code rows} words; 0 if the table has runs
     * @param payloads address of {@code rows} words; 0 if the table has runs
     * @param runs address of the address of each run, which starts with {@link
     *     BulkRunLayout#RUN_ROWS} keys; 0 if the table has columns
     */
    record Table(long keys, long payloads, long rows, long runs) {

        static Table ofColumns(long keys, long payloads, long rows) {
            return new Table(keys, payloads, rows, 0);
        }

        static Table ofRuns(long runs, long rows) {
            return new Table(0, 0, rows, runs);
        }

        void write(long address) {
            Memory.putLong(address, keys);
            Memory.putLong(address + 8, payloads);
            Memory.putLong(address + 16, rows);
            Memory.putLong(address + 24, runs);
        }
    }

    /**
     * Columns of results in device memory.
     *
     * @param keys address of {@code capacityRows} words, or 0 if nobody needs the keys
     * @param matchCount address of an int64: the number of matches, even if it exceeds the capacity
     */
    record Matches(
            long keys, long buildPayloads, long probePayloads, long capacityRows, long matchCount) {

        void write(long address) {
            Memory.putLong(address, keys);
            Memory.putLong(address + 8, buildPayloads);
            Memory.putLong(address + 16, probePayloads);
            Memory.putLong(address + 24, capacityRows);
            Memory.putLong(address + 32, matchCount);
        }
    }

    /** What the plan kernel determined: how to launch the other kernels. */
    record LaunchShape(
            int buildTiles,
            int probeTiles,
            int tileThreads,
            int tileBlocksPerSm,
            int firstPartitions,
            int partitions,
            int firstScatterBytes,
            int secondScatterBytes,
            int joinBytes,
            int slotThreads,
            int scanThreads,
            int joinThreads,
            int joinBlocksPerSm,
            int scatterWaves) {

        static LaunchShape read(long address) {
            int[] words = new int[LAUNCH_BYTES / Integer.BYTES];
            for (int i = 0; i < words.length; i++) {
                words[i] = Memory.getInt(address + (long) Integer.BYTES * i);
            }
            return new LaunchShape(
                    words[0], words[1], words[2], words[3], words[4], words[5], words[6], words[7],
                    words[8], words[9], words[10], words[11], words[12], words[13]);
        }

        boolean hasTwoPasses() {
            return partitions > firstPartitions;
        }

        int tiles(int table) {
            return table == 0 ? buildTiles : probeTiles;
        }
    }

    private ResidentCall() {}

    /** Returns the words of a call, as a parameter of kernels. */
    static long[] words(long address) {
        long[] words = new long[BYTES / Long.BYTES];
        for (int i = 0; i < words.length; i++) {
            words[i] = Memory.getLong(address + (long) Long.BYTES * i);
        }
        return words;
    }

    /**
     * Writes what the host determines.
     *
     * @param address host memory of {@link #BYTES}
     * @param workspace device address, or 0 if only its size is asked for
     */
    static void write(long address, Table build, Table probe, Matches matches, long workspace) {
        build.write(address + BUILD_OFFSET);
        probe.write(address + PROBE_OFFSET);
        matches.write(address + MATCHES_OFFSET);
        Memory.putLong(address + MEMORY_OFFSET, workspace);
    }
}
