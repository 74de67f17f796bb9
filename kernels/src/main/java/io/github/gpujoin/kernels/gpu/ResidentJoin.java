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

    /** A planned join: its workspace, how to launch its kernels, and their parameter. */
    private record Plan(long workspaceBytes, LaunchShape launch, long[] call) {}

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

    /** Returns the workspace that a join needs; of the tables, only the numbers of rows count. */
    long workspaceBytes(ResidentCall.Table build, ResidentCall.Table probe) {
        return plan(build, probe, new ResidentCall.Matches(0, 0, 0, 0, 0), 0).workspaceBytes();
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
                    LaunchShape.read(region.address() + ResidentCall.LAUNCH_OFFSET),
                    ResidentCall.words(region.address()));
        }
    }

    /**
     * Queues the join. The memory of inputs, results and workspace does not overlap.
     *
     * @param workspace device address of {@link #workspaceBytes}, a multiple of {@link
     *     ResidentCall#ALIGNMENT_BYTES}
     */
    void start(
            ResidentCall.Table build,
            ResidentCall.Table probe,
            ResidentCall.Matches matches,
            long workspace) {
        Plan plan = plan(build, probe, matches, workspace);
        LaunchShape shape = plan.launch();
        for (int table : new int[] {BUILD, PROBE}) {
            int tiles = shape.tiles(table);
            Pass first =
                    new Pass(
                            "first",
                            table,
                            tiles,
                            shape.firstPartitions(),
                            shape.firstPartitions(),
                            shape.firstScatterBytes());
            startPass(plan, first);
            if (shape.hasTwoPasses()) {
                launch(plan, "map_tiles", 1, shape.scanThreads(), 0, table);
                Pass second =
                        new Pass(
                                "second",
                                table,
                                tiles + shape.firstPartitions(),
                                shape.partitions() / shape.firstPartitions(),
                                shape.partitions(),
                                shape.secondScatterBytes());
                startPass(plan, second);
            }
        }
        launch("items", 1, shape.scanThreads(), 0, plan.call());
        launch(
                "join",
                driver.multiprocessors() * shape.joinBlocksPerSm(),
                shape.joinThreads(),
                shape.joinBytes(),
                plan.call());
    }

    /** One radix pass over a table. */
    private record Pass(
            String name, int table, int tiles, int digits, int partitions, int scatterBytes) {}

    /**
     * Queues the attempt with guessed sizes, a block for each tile, and those with sampled and
     * counted sizes, whose fewer blocks return at once if an earlier attempt succeeded.
     */
    private void startPass(Plan plan, Pass pass) {
        if (pass.tiles() == 0) {
            return;
        }
        LaunchShape shape = plan.launch();
        int table = pass.table();
        int slotBlocks = blocks(pass.partitions(), shape.slotThreads());
        int scanBlocks = blocks(pass.partitions(), shape.scanThreads());
        int resident = driver.multiprocessors() * shape.tileBlocksPerSm();
        int countBlocks = Math.min(pass.tiles(), resident);
        int scatterBlocks = Math.min(pass.tiles(), resident * shape.scatterWaves());
        int threads = shape.tileThreads();
        int scatterBytes = pass.scatterBytes();
        launch(plan, "guess_" + pass.name(), slotBlocks, shape.slotThreads(), 0, table);
        String guessed = "scatter_" + pass.name() + "_guessed";
        launch(plan, guessed, pass.tiles(), threads, scatterBytes, table);
        for (String attempt : new String[] {"_sampled", "_counted"}) {
            String step = pass.name() + attempt;
            int countBytes = Integer.BYTES * pass.digits();
            launch(plan, "clear_" + step, slotBlocks, shape.slotThreads(), 0, table);
            launch(plan, "count_" + step, countBlocks, threads, countBytes, table);
            launch(plan, "lay_out_" + step, scanBlocks, shape.scanThreads(), 0, table);
            launch(plan, "scatter_" + step, scatterBlocks, threads, scatterBytes, table);
        }
    }

    private static int blocks(int items, int blockItems) {
        return (items + blockItems - 1) / blockItems;
    }

    private void launch(
            Plan plan, String kernel, int blocks, int threads, int sharedBytes, int table) {
        launch(kernel, blocks, threads, sharedBytes, plan.call(), new long[] {table});
    }

    private void launch(
            String kernel, int blocks, int threads, int sharedBytes, long[]... arguments) {
        driver.launchWithSharedMemory(
                PREFIX + kernel + suffix, blocks, threads, sharedBytes, arguments);
    }
}
