// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.kernels.binding.CudaDriver;
import io.github.gpujoin.kernels.binding.KernelImage;
import io.github.gpujoin.kernels.gpu.SortMergeCall.KernelShape;
import java.util.ArrayList;
import java.util.List;

/**
 * Inner equi-join of two tables in the memory of one device, by sorting both by key and merging
 * them (the kernels of {@code sort_merge.cu}). A table whose keys are in ascending order is not
 * sorted again. Keys may repeat in both tables. Results are in ascending order of their keys; the
 * order of results with equal keys is undefined.
 */
final class SortMergeJoin implements DeviceTableJoin {

    private static final String PREFIX = "gpujoin_sort_merge_";

    /** Kernels for each table, in the order of their launches and shapes. */
    private static final List<String> TABLE_KERNELS =
            List.of(
                    "clear",
                    "check",
                    "sample_first",
                    "count_first",
                    "lay_out_first",
                    "scatter_first",
                    "sample_second",
                    "count_second",
                    "lay_out_second",
                    "scatter_second",
                    "sort",
                    "sort_large",
                    "copy_constants");

    /** Kernels after those of both tables. */
    private static final List<String> MERGE_KERNELS =
            List.of("plan_tiles", "merge_tiles", "expand_tiles");

    private static final int SHAPES = 2 * TABLE_KERNELS.size() + MERGE_KERNELS.size();

    /** A planned join: its workspace, how to launch its kernels, and their parameter. */
    private record Plan(long workspaceBytes, List<KernelShape> shapes, long[] call) {}

    private final CudaDriver driver;
    private final String suffix;
    private final long call;

    /**
     * @param wordBits of keys and payloads, 32 or 64
     * @param scratch owner of the device memory used here
     * @throws io.github.gpujoin.kernels.binding.GpuUnavailableException if there is no image of the
     *     kernels for the device, or no memory
     */
    SortMergeJoin(CudaDriver driver, int wordBits, Buffers scratch) {
        if (wordBits != Integer.SIZE && wordBits != Long.SIZE) {
            throw new IllegalArgumentException(
                    "Words of a sort-merge join have 32 or 64 bits: wordBits=" + wordBits);
        }
        this.driver = driver;
        this.suffix = "_" + wordBits;
        driver.load(KernelImage.SORT_MERGE);
        this.call = scratch.device(SortMergeCall.BYTES);
    }

    @Override
    public long workspaceBytes(ResidentCall.Table build, ResidentCall.Table probe) {
        return plan(build, probe, new ResidentCall.Matches(0, 0, 0, 0, 0), 0).workspaceBytes();
    }

    private Plan plan(
            ResidentCall.Table build,
            ResidentCall.Table probe,
            ResidentCall.Matches matches,
            long workspace) {
        try (Region region = Region.allocateZeroed(SortMergeCall.BYTES)) {
            SortMergeCall.write(region.address(), build, probe, matches, workspace);
            driver.copyToDevice(call, region.address(), SortMergeCall.BYTES);
            driver.launch(PREFIX + "plan" + suffix, 1, 1, call);
            driver.copyToHost(region.address(), call, SortMergeCall.BYTES);
            List<KernelShape> shapes = new ArrayList<>();
            for (int i = 0; i < SHAPES; i++) {
                shapes.add(KernelShape.read(region.address(), i));
            }
            return new Plan(
                    Memory.getLong(region.address() + SortMergeCall.WORKSPACE_BYTES_OFFSET),
                    shapes,
                    SortMergeCall.words(region.address()));
        }
    }

    @Override
    public void start(
            ResidentCall.Table build,
            ResidentCall.Table probe,
            ResidentCall.Matches matches,
            long workspace) {
        Plan plan = plan(build, probe, matches, workspace);
        int shape = 0;
        for (long table = 0; table < 2; table++) {
            for (String kernel : TABLE_KERNELS) {
                launch(kernel, plan.shapes().get(shape++), plan.call(), new long[] {table});
            }
        }
        for (String kernel : MERGE_KERNELS) {
            launch(kernel, plan.shapes().get(shape++), plan.call());
        }
    }

    private void launch(String kernel, KernelShape shape, long[]... arguments) {
        int blocks = shape.blocksOn(driver.multiprocessors());
        if (blocks > 0) {
            driver.launchWithSharedMemory(
                    PREFIX + kernel + suffix,
                    blocks,
                    shape.threads(),
                    shape.sharedBytes(),
                    arguments);
        }
    }
}
