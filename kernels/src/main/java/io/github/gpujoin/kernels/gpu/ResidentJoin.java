// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.kernels.binding.CudaDriver;
import io.github.gpujoin.kernels.binding.KernelImage;
import io.github.gpujoin.kernels.gpu.ResidentCall.LaunchShape;

/**
 * Inner equi-join of two tables in the memory of one device, by radix partitions in shared memory
 * (the kernels of {@code resident.cu}; Rui and Tu, "Fast Equi-Join Algorithms on GPUs: Design and
 * Implementation", SSDBM 2017, section 3.2). Keys may repeat in both tables; the order of results
 * is undefined.
 *
 * <p>The serving kernel must be stopped, as it occupies the device. Not thread-safe.
 */
final class ResidentJoin {

    private static final String PREFIX = "gpujoin_resident_";
    private static final int BUILD = 0;
    private static final int PROBE = 1;

    /** What a join of given sizes needs. */
    record Plan(long workspaceBytes, LaunchShape launch) {}

    private final CudaDriver driver;
    private final String suffix;
    private final long call;

    /**
     * @param wordBits of keys and payloads, 32 or 64
     * @param scratch owner of the device memory used here
     * @throws io.github.gpujoin.kernels.binding.GpuUnavailableException if there is no image of the
     *     kernels for the device, or no memory
     */
    ResidentJoin(CudaDriver driver, int wordBits, Buffers scratch) {
        if (wordBits != Integer.SIZE && wordBits != Long.SIZE) {
            throw new IllegalArgumentException(
                    "Words of a resident join have 32 or 64 bits: wordBits=" + wordBits);
        }
        this.driver = driver;
        this.suffix = "_" + wordBits;
        driver.load(KernelImage.RESIDENT);
        this.call = scratch.device(ResidentCall.BYTES);
    }

    /** Returns what a join needs; of the tables, only the numbers of rows count. */
    Plan plan(ResidentCall.Table build, ResidentCall.Table probe) {
        return plan(build, probe, new ResidentCall.Matches(0, 0, 0, 0, 0), 0);
    }

    private Plan plan(
            ResidentCall.Table build,
            ResidentCall.Table probe,
            ResidentCall.Matches matches,
            long workspace) {
        try (Region region = Region.allocateZeroed(ResidentCall.BYTES)) {
            ResidentCall.write(region.address(), build, probe, matches, workspace);
            driver.copyToDevice(call, region.address(), ResidentCall.BYTES);
            driver.launch(PREFIX + "plan" + suffix, 1, 1, call);
            driver.copyToHost(region.address(), call, ResidentCall.BYTES);
            return new Plan(
                    Memory.getLong(region.address() + ResidentCall.WORKSPACE_BYTES_OFFSET),
                    LaunchShape.read(region.address() + ResidentCall.LAUNCH_OFFSET));
        }
    }

    /**
     * Queues the join. The memory of inputs, results and workspace does not overlap.
     *
     * @param workspace device address of the bytes of the plan, a multiple of {@link
     *     ResidentCall#ALIGNMENT_BYTES}
     */
    void start(
            ResidentCall.Table build,
            ResidentCall.Table probe,
            ResidentCall.Matches matches,
            long workspace) {
        LaunchShape shape = plan(build, probe, matches, workspace).launch();
        for (int table : new int[] {BUILD, PROBE}) {
            int tiles = shape.tiles(table);
            startPass(
                    "first",
                    table,
                    tiles,
                    shape.firstPartitions(),
                    shape.firstPartitions(),
                    shape.firstScatterBytes(),
                    shape);
            if (shape.hasTwoPasses()) {
                launch("map_tiles", 1, shape.scanThreads(), 0, table);
                int digits = shape.partitions() / shape.firstPartitions();
                startPass(
                        "second",
                        table,
                        tiles + shape.firstPartitions(),
                        digits,
                        shape.partitions(),
                        shape.secondScatterBytes(),
                        shape);
            }
        }
        driver.launch(PREFIX + "items" + suffix, 1, shape.scanThreads(), call);
        driver.launchWithSharedMemory(
                PREFIX + "join" + suffix,
                driver.multiprocessors() * shape.joinBlocksPerSm(),
                shape.joinThreads(),
                shape.joinBytes(),
                call);
    }

    /**
     * Queues the attempt with guessed sizes, a block for each tile, and those with sampled and
     * counted sizes, whose kernels return at once if an earlier attempt succeeded.
     */
    private void startPass(
            String pass,
            int table,
            int tiles,
            int digits,
            int partitions,
            int scatterBytes,
            LaunchShape shape) {
        if (tiles == 0) {
            return;
        }
        int slotBlocks = (partitions + shape.slotThreads() - 1) / shape.slotThreads();
        int resident = Math.min(tiles, driver.multiprocessors() * shape.tileBlocksPerSm());
        int tileThreads = shape.tileThreads();
        launch("guess_" + pass, slotBlocks, shape.slotThreads(), 0, table);
        launch("scatter_" + pass + "_guessed", tiles, tileThreads, scatterBytes, table);
        for (String attempt : new String[] {"_sampled", "_counted"}) {
            String step = pass + attempt;
            launch("clear_" + step, slotBlocks, shape.slotThreads(), 0, table);
            launch("count_" + step, resident, tileThreads, Integer.BYTES * digits, table);
            launch("lay_out_" + step, 1, shape.scanThreads(), 0, table);
            launch("scatter_" + step, resident, tileThreads, scatterBytes, table);
        }
    }

    private void launch(String kernel, int blocks, int threads, int sharedBytes, int table) {
        driver.launchWithSharedMemory(
                PREFIX + kernel + suffix, blocks, threads, sharedBytes, call, table);
    }
}
