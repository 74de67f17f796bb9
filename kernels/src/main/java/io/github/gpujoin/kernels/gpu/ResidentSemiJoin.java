// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.kernels.binding.CudaDriver;
import io.github.gpujoin.kernels.binding.KernelImage;
import io.github.gpujoin.kernels.gpu.SemiJoinCall.KeySet;
import io.github.gpujoin.kernels.gpu.SemiJoinCall.Kind;
import io.github.gpujoin.kernels.gpu.SemiJoinCall.Result;
import io.github.gpujoin.kernels.gpu.SemiJoinCall.Side;

/**
 * Left semi-join or anti join of two tables in the memory of one device (the kernels of {@code
 * semi_join_kernels.cuh}). The smaller side builds a set of keys, from which the right side removes
 * those that it matches, if the left side built. Result rows are counted by group and, if needed,
 * listed. Keys may repeat in both tables.
 *
 * <p>The serving kernel must be stopped, as it occupies the device. Not thread-safe.
 */
final class ResidentSemiJoin {

    private static final String PREFIX = "gpujoin_semi_join_";

    private final CudaDriver driver;
    private final String suffix;
    private final Buffers scratch;
    private final long deviceCall;
    private final long report;

    /**
     * @param keyBits 32 or 64
     * @param scratch owner of the device memory used here
     * @throws io.github.gpujoin.kernels.binding.GpuUnavailableException if there is no image of the
     *     kernels for the device, or no memory
     */
    ResidentSemiJoin(CudaDriver driver, int keyBits, Buffers scratch) {
        if (keyBits != Integer.SIZE && keyBits != Long.SIZE) {
            throw new IllegalArgumentException(
                    "Keys of a resident semi-join have 32 or 64 bits: keyBits=" + keyBits);
        }
        this.driver = driver;
        this.suffix = "_" + keyBits;
        this.scratch = scratch;
        driver.load(KernelImage.SEMI_JOIN);
        this.deviceCall = scratch.device(SemiJoinCall.BYTES);
        this.report = scratch.device(SemiJoinCall.REPORT_BYTES);
    }

    /**
     * Joins and waits for the result. The memory of inputs and results does not overlap.
     *
     * @return number of result rows, even if it exceeds the capacity of {@code result}
     * @throws IllegalArgumentException if the left side or the selected rows of the build side are
     *     too many, or a result row has a group out of range
     * @throws io.github.gpujoin.kernels.binding.GpuUnavailableException if there is no memory for
     *     the keys
     */
    long join(Side left, Side right, Result result, Kind kind, KeySet keySet) {
        if (left.rows() > SemiJoinCall.MAX_LEFT_ROWS) {
            throw new IllegalArgumentException(
                    "Left side of a semi-join has too many rows: rows="
                            + left.rows()
                            + ", maximum="
                            + SemiJoinCall.MAX_LEFT_ROWS
                            + ". Join parts of it.");
        }
        try (Region call = Region.allocateZeroed(SemiJoinCall.BYTES);
                Buffers workspace = scratch.sibling()) {
            SemiJoinCall.write(call, left, right, result, report, kind, keySet);
            select(call, left, right, workspace);
            putMemory(
                    call,
                    SemiJoinCall.KEY_SET_MEMORY_OFFSET,
                    SemiJoinCall.KEY_SET_BYTES_OFFSET,
                    workspace);
            int chosen = Memory.getInt(call.address() + SemiJoinCall.KEY_SET_OFFSET);
            String set = chosen == KeySet.DIRECT.ordinal() ? "_direct" : "_hash";
            launch(call, "clear");
            launch(call, "insert" + set);
            if (leftBuilds(call)) {
                launch(call, "remove" + set);
            }
            launch(call, "emit" + set);
            return resultRows(result);
        }
    }

    /**
     * Plans and selects the rows of the build side, twice if more rows than expected satisfy its
     * condition, and plans the key set.
     */
    private void select(Region call, Side left, Side right, Buffers workspace) {
        for (; ; ) {
            plan(call, "plan_selection");
            boolean leftBuilds = leftBuilds(call);
            Side build = leftBuilds ? left : right;
            try (Buffers selection = scratch.sibling()) {
                putMemory(
                        call,
                        SemiJoinCall.SELECTION_MEMORY_OFFSET,
                        SemiJoinCall.SELECTION_BYTES_OFFSET,
                        selection);
                launch(call, "prepare");
                launch(call, build.condition().isPresent() ? "select" : "measure");
                plan(call, "plan_key_set");
                long selected = Memory.getLong(call.address() + SemiJoinCall.SELECTED_ROWS_OFFSET);
                if (selected > SemiJoinCall.MAX_BUILD_ROWS) {
                    throw new IllegalArgumentException(
                            "Build side of a semi-join has too many rows: rows="
                                    + selected
                                    + ", maximum="
                                    + SemiJoinCall.MAX_BUILD_ROWS
                                    + ". Join parts of it.");
                }
                if (selected <= build.selectionCapacityRows()) {
                    selection.moveTo(workspace);
                    return;
                }
                Side counted = build.withExpectedRows(selected);
                left = leftBuilds ? counted : left;
                right = leftBuilds ? right : counted;
                SemiJoinCall.writeSides(call, left, right);
            }
        }
    }

    private static boolean leftBuilds(Region call) {
        return Memory.getInt(call.address() + SemiJoinCall.BUILD_SIDE_OFFSET) == 0;
    }

    private void plan(Region call, String kernel) {
        driver.copyToDevice(deviceCall, call.address(), SemiJoinCall.BYTES);
        driver.launch(PREFIX + kernel + suffix, 1, 1, deviceCall);
        driver.copyToHost(call.address(), deviceCall, SemiJoinCall.BYTES);
    }

    /** Allocates the memory of a plan and writes its address to the call. */
    private static void putMemory(Region call, int offset, int lengthOffset, Buffers owner) {
        long lengthBytes = Memory.getLong(call.address() + lengthOffset);
        Memory.putLong(call.address() + offset, lengthBytes == 0 ? 0 : owner.device(lengthBytes));
    }

    private void launch(Region call, String kernel) {
        int threads = Memory.getInt(call.address() + SemiJoinCall.THREADS_OFFSET);
        int blocksPerSm = Memory.getInt(call.address() + SemiJoinCall.BLOCKS_PER_SM_OFFSET);
        driver.launchWithSharedMemory(
                PREFIX + kernel + suffix,
                driver.multiprocessors() * blocksPerSm,
                threads,
                0,
                SemiJoinCall.words(call));
    }

    private long resultRows(Result result) {
        try (Region copy = Region.allocate(SemiJoinCall.REPORT_BYTES)) {
            driver.copyToHost(copy.address(), report, SemiJoinCall.REPORT_BYTES);
            long ungrouped =
                    Memory.getLong(copy.address() + SemiJoinCall.REPORT_UNGROUPED_ROWS_OFFSET);
            if (ungrouped != 0) {
                throw new IllegalArgumentException(
                        "Result rows have groups out of range: rows="
                                + ungrouped
                                + ", groups="
                                + result.groupCount());
            }
            return Memory.getLong(copy.address() + SemiJoinCall.REPORT_RESULT_ROWS_OFFSET);
        }
    }
}
