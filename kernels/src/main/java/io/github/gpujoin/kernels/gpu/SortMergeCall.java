// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.region.Memory;

/**
 * Byte layout of a sort-merge join in device memory, the struct SortMergeCall of {@code
 * sort_merge_call.h}. The host writes the first line; the plan kernel writes the others.
 *
 * <pre>
 *   0        32       64         104       112
 *   +--------+--------+----------+---------+
 *   | build  | probe  | matches  | memory  |
 *   +--------+--------+----------+---------+
 *   112              120               328               536             584          1024
 *   +----------------+-----------------+-----------------+---------------+------------+
 *   | workspaceBytes | shapes of build | shapes of probe | ... of merge  | of kernels |
 *   +----------------+-----------------+-----------------+---------------+------------+
 *   build, probe, matches:  as in ResidentCall
 *   shape of a kernel:      blocks, blocksPerMultiprocessor, threads, sharedBytes   int32 each
 * </pre>
 */
final class SortMergeCall {

    static final int BYTES = 1024;
    static final int BUILD_OFFSET = 0;
    static final int PROBE_OFFSET = 32;
    static final int MATCHES_OFFSET = 64;
    static final int MEMORY_OFFSET = 104;
    static final int WORKSPACE_BYTES_OFFSET = 112;
    static final int SHAPES_OFFSET = 120;
    static final int SHAPE_BYTES = 16;

    /**
     * How to launch a kernel.
     *
     * @param blocks 0 if the kernel has no work
     * @param blocksPerMultiprocessor maximum of blocks, or 0 if there is none
     * @param sharedBytes of each block
     */
    record KernelShape(int blocks, int blocksPerMultiprocessor, int threads, int sharedBytes) {

        /** Returns shape number {@code index} of the call at a host address. */
        static KernelShape read(long call, int index) {
            long address = call + SHAPES_OFFSET + (long) SHAPE_BYTES * index;
            return new KernelShape(
                    Memory.getInt(address),
                    Memory.getInt(address + 4),
                    Memory.getInt(address + 8),
                    Memory.getInt(address + 12));
        }

        int blocksOn(int multiprocessors) {
            return blocksPerMultiprocessor == 0
                    ? blocks
                    : Math.min(blocks, blocksPerMultiprocessor * multiprocessors);
        }
    }

    private SortMergeCall() {}

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
    static void write(
            long address,
            ResidentCall.Table build,
            ResidentCall.Table probe,
            ResidentCall.Matches matches,
            long workspace) {
        build.write(address + BUILD_OFFSET);
        probe.write(address + PROBE_OFFSET);
        matches.write(address + MATCHES_OFFSET);
        Memory.putLong(address + MEMORY_OFFSET, workspace);
    }
}
