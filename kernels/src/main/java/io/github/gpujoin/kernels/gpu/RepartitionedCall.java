// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.region.Memory;
import java.util.Arrays;
import java.util.List;

/**
 * Byte layout of a member's part of a repartitioned join in device memory, the struct
 * RepartitionedCall of {@code repartitioned_call.h}. The host writes the first two lines; the plan
 * kernel writes the others.
 *
 * <pre>
 *   0       32      64        104        168         232         296
 *   +-------+-------+---------+----------+-----------+-----------+
 *   | build | probe | matches | memories | buildRows | probeRows |
 *   +-------+-------+---------+----------+-----------+-----------+
 *   296       304      312      320        328
 *   +---------+--------+--------+----------+
 *   | members | member | chunks | isStaged |
 *   +---------+--------+--------+----------+
 *   328              336      440          2048
 *   +----------------+--------+------------+
 *   | workspaceBytes | launch | of kernels |
 *   +----------------+--------+------------+
 *   build, probe, matches: as in ResidentCall
 *   memories, buildRows, probeRows: int64 for each of 8 members
 *   launch: LaunchShape, int32 each
 * </pre>
 */
final class RepartitionedCall {

    static final int BYTES = 2048;
    static final int MAX_MEMBERS = 8;
    static final int MAX_CHUNKS = 4;
    static final int BUILD_OFFSET = 0;
    static final int PROBE_OFFSET = 32;
    static final int MATCHES_OFFSET = 64;
    static final int MEMORIES_OFFSET = 104;
    static final int BUILD_ROWS_OFFSET = 168;
    static final int PROBE_ROWS_OFFSET = 232;
    static final int MEMBERS_OFFSET = 296;
    static final int MEMBER_OFFSET = 304;
    static final int CHUNKS_OFFSET = 312;
    static final int IS_STAGED_OFFSET = 320;
    static final int WORKSPACE_BYTES_OFFSET = 328;
    static final int LAUNCH_OFFSET = 336;

    private static final int TRANSFERS = MAX_CHUNKS + 1;

    /**
     * What a member holds of both tables, and where its results go.
     *
     * @param matches of the member; its count is exact even if it exceeds the capacity
     */
    record Part(ResidentCall.Table build, ResidentCall.Table probe, ResidentCall.Matches matches) {}

    /**
     * What the plan kernel determined: how to launch the other kernels.
     *
     * @param exchangeTiles of each transfer
     * @param secondTiles expected tiles of the second pass of each transfer
     */
    record LaunchShape(
            int chunks,
            List<Integer> exchangeTiles,
            List<Integer> secondTiles,
            int exchangePartitions,
            int exchangeThreads,
            int exchangeBytes,
            int exchangePercent,
            int secondDigits,
            int partitions,
            int secondThreads,
            int secondBytes,
            int secondBlocksPerSm,
            int scatterWaves,
            int slotThreads,
            int scanThreads,
            int joinThreads,
            int joinBytes,
            int joinBlocksPerSm) {

        static LaunchShape read(long address) {
            long rest = address + (long) Integer.BYTES * (1 + 2 * TRANSFERS);
            int[] words = ints(rest, 15);
            return new LaunchShape(
                    Memory.getInt(address),
                    list(address + Integer.BYTES),
                    list(address + (long) Integer.BYTES * (1 + TRANSFERS)),
                    words[0],
                    words[1],
                    words[2],
                    words[3],
                    words[4],
                    words[5],
                    words[6],
                    words[7],
                    words[8],
                    words[9],
                    words[10],
                    words[11],
                    words[12],
                    words[13],
                    words[14]);
        }

        private static List<Integer> list(long address) {
            return Arrays.stream(ints(address, TRANSFERS)).boxed().toList();
        }

        private static int[] ints(long address, int count) {
            int[] words = new int[count];
            for (int i = 0; i < count; i++) {
                words[i] = Memory.getInt(address + (long) Integer.BYTES * i);
            }
            return words;
        }
    }

    private RepartitionedCall() {}

    /** Returns the words of a call, as a parameter of kernels. */
    static long[] words(long address) {
        long[] words = new long[BYTES / Long.BYTES];
        for (int i = 0; i < words.length; i++) {
            words[i] = Memory.getLong(address + (long) Long.BYTES * i);
        }
        return words;
    }

    /**
     * Writes what the host determines. Kernels store rows at peers; the host copies none.
     *
     * @param address host memory of {@link #BYTES}, zeroed
     * @param parts of all members
     * @param chunks of the probe table, or 0 to let the plan choose
     * @param workspaces device addresses of all members, or zeros if only their size is asked for
     */
    static void write(long address, List<Part> parts, int member, int chunks, long[] workspaces) {
        Part own = parts.get(member);
        own.build().write(address + BUILD_OFFSET);
        own.probe().write(address + PROBE_OFFSET);
        own.matches().write(address + MATCHES_OFFSET);
        for (int n = 0; n < parts.size(); n++) {
            long offset = (long) Long.BYTES * n;
            Memory.putLong(address + MEMORIES_OFFSET + offset, workspaces[n]);
            Memory.putLong(address + BUILD_ROWS_OFFSET + offset, parts.get(n).build().rows());
            Memory.putLong(address + PROBE_ROWS_OFFSET + offset, parts.get(n).probe().rows());
        }
        Memory.putLong(address + MEMBERS_OFFSET, parts.size());
        Memory.putLong(address + MEMBER_OFFSET, member);
        Memory.putLong(address + CHUNKS_OFFSET, chunks);
        Memory.putLong(address + IS_STAGED_OFFSET, 0);
    }
}
