// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.kernels.binding.CudaDriver;
import io.github.gpujoin.kernels.binding.KernelImage;
import io.github.gpujoin.kernels.gpu.ResidentCall.LaunchShape;
import org.jspecify.annotations.Nullable;

/**
 * Equi-join of two tables in the memory of one device, by radix partitions in shared memory (the
 * kernels of {@code resident.cu}; Rui and Tu, "Fast Equi-Join Algorithms on GPUs: Design and
 * Implementation", SSDBM 2017, section 3.2). Keys may repeat in both tables; the order of results
 * is undefined.
 */
final class ResidentJoin implements DeviceTableJoin {

    private static final String PREFIX = "gpujoin_resident_";
    private static final int BUILD = 0;
    private static final int PROBE = 1;

    /**
     * Which items a launch joins: of the unclaimed ones those before {@code end}, and of the probe
     * rows of each at most {@code probeRows} from {@code firstProbeRow} on.
     */
    record ItemRange(long end, int firstProbeRow, int probeRows) {

        /** Maximum probe rows of an item; PROBE_SLICE_ROWS of {@code join_plan.h}. */
        static final int ITEM_PROBE_ROWS = 1 << 16;

        /** Maximum build rows of an item; those of TABLE_SHAPE of {@code join_plan.h}. */
        static final int ITEM_BUILD_ROWS = 4368;

        static ItemRange to(long end) {
            return new ItemRange(end, 0, ITEM_PROBE_ROWS);
        }

        private long[] words() {
            return new long[] {
                end, Integer.toUnsignedLong(firstProbeRow) | (long) probeRows << Integer.SIZE
            };
        }
    }

    /** A planned join: its workspace, how to launch its kernels, and their parameter. */
    private record Plan(
            long workspaceBytes,
            LaunchShape launch,
            long claimedItems,
            long extraItems,
            long[] call) {}

    private final CudaDriver driver;
    private final WordCopies words;
    private final String suffix;
    private final String matchingSuffix;
    private final long call;
    private @Nullable Plan plan;

    /**
     * Creates a join of keys that are words.
     *
     * @param wordBits of keys and payloads, 32 or 64
     * @param call device address of {@link ResidentCall#BYTES}, used here
     * @throws io.github.gpujoin.kernels.binding.GpuUnavailableException if there is no image of the
     *     kernels for the device
     */
    ResidentJoin(CudaDriver driver, int wordBits, long call) {
        this(driver, WordCopies.of(driver), wordBits, call, false);
    }

    private ResidentJoin(
            CudaDriver driver, WordCopies words, int wordBits, long call, boolean isHashed) {
        if (wordBits != Integer.SIZE && wordBits != Long.SIZE) {
            throw new IllegalArgumentException(
                    "Words of a resident join have 32 or 64 bits: wordBits=" + wordBits);
        }
        this.driver = driver;
        this.words = words;
        this.suffix = "_" + wordBits;
        this.matchingSuffix = isHashed ? "_hashed" : "";
        driver.load(KernelImage.RESIDENT);
        this.call = call;
    }

    /**
     * Creates a join of tables of runs, whose copies of words do not wait for queued copies of
     * runs.
     *
     * @param layout of their runs: if their words are hashes, key records are compared
     */
    static ResidentJoin ofRuns(BulkDevice device, BulkRunLayout layout, long call) {
        int wordBits = Byte.SIZE * layout.wordBytes();
        return new ResidentJoin(
                device.driver(), device.words(), wordBits, call, layout.hasKeyRecords());
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
        try (Region region = Region.allocateZeroed(ResidentCall.BYTES)) {
            long address = region.address();
            ResidentCall.write(address, build, probe, matches, workspace);
            words.toDevice(call, address, ResidentCall.BYTES);
            driver.launch(PREFIX + "plan" + suffix, 1, 1, call);
            words.toHost(address, call, ResidentCall.BYTES);
            return new Plan(
                    Memory.getLong(address + ResidentCall.WORKSPACE_BYTES_OFFSET),
                    LaunchShape.read(address + ResidentCall.LAUNCH_OFFSET),
                    Memory.getLong(address + ResidentCall.CLAIMED_ITEMS_OFFSET),
                    Memory.getLong(address + ResidentCall.EXTRA_ITEMS_OFFSET),
                    ResidentCall.words(address));
        }
    }

    /**
     * Queues the partitioning of both tables. The memory of inputs, results and workspace does not
     * overlap.
     *
     * @param workspace device address of {@link #workspaceBytes}, a multiple of {@link
     *     ResidentCall#ALIGNMENT_BYTES}
     */
    void partition(
            ResidentCall.Table build,
            ResidentCall.Table probe,
            ResidentCall.Matches matches,
            long workspace) {
        plan = plan(build, probe, matches, workspace);
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
            startPass(first);
            if (shape.hasTwoPasses()) {
                launchOf(table, "map_tiles", 1, shape.scanThreads(), 0);
                Pass second =
                        new Pass(
                                "second",
                                table,
                                tiles + shape.firstPartitions(),
                                shape.partitions() / shape.firstPartitions(),
                                shape.partitions(),
                                shape.secondScatterBytes());
                startPass(second);
            }
        }
    }

    /**
     * Queues the division of partitioned tables into items, none of which is claimed, and sets the
     * number of matches to 0.
     *
     * @param build the table that builds: 0 or 1, in the order of {@link #partition}
     */
    void planItems(int build) {
        launchOf(build, "items", 1, plan.launch().scanThreads(), 0);
    }

    /** Returns the number of items, once {@link #planItems} has run. */
    long itemCount() {
        return plan.launch().partitions() + read(plan.extraItems());
    }

    private long read(long deviceAddress) {
        try (Region region = Region.allocate(Long.BYTES)) {
            words.toHost(region.address(), deviceAddress, Long.BYTES);
            return Memory.getLong(region.address());
        }
    }

    /** Sets how many items are claimed, which are the first ones. */
    void claimItems(long count) {
        try (Region region = Region.allocate(Long.BYTES)) {
            Memory.putLong(region.address(), count);
            words.toDevice(plan.claimedItems(), region.address(), Long.BYTES);
        }
    }

    /** Queues the join of items that were planned for table 0 as the build side. */
    void join(ItemRange range) {
        LaunchShape shape = plan.launch();
        launch(
                "join" + matchingSuffix,
                driver.multiprocessors() * shape.joinBlocksPerSm(),
                shape.joinThreads(),
                shape.joinBytes(),
                plan.call(),
                range.words());
    }

    /**
     * Queues the marking of rows with a match, for planned items. Payloads are row numbers.
     *
     * @param build as of {@link #planItems}; rows of the other table are marked
     * @param marks device address of a byte for each row, set to 1
     */
    void mark(int build, ItemRange range, long marks) {
        LaunchShape shape = plan.launch();
        launch(
                "mark" + matchingSuffix,
                driver.multiprocessors() * shape.joinBlocksPerSm(),
                shape.joinThreads(),
                shape.joinBytes(),
                plan.call(),
                new long[] {build},
                range.words(),
                new long[] {marks});
    }

    @Override
    public void start(
            ResidentCall.Table build,
            ResidentCall.Table probe,
            ResidentCall.Matches matches,
            long workspace) {
        partition(build, probe, matches, workspace);
        planItems(BUILD);
        join(ItemRange.to(Long.MAX_VALUE));
    }

    /** One radix pass over a table. */
    private record Pass(
            String name, int table, int tiles, int digits, int partitions, int scatterBytes) {}

    /**
     * Queues the attempt with guessed sizes, a block for each tile, and those with sampled and
     * counted sizes, whose fewer blocks return at once if an earlier attempt succeeded.
     */
    private void startPass(Pass pass) {
        LaunchShape shape = plan.launch();
        int table = pass.table();
        int slotBlocks = blocks(pass.partitions(), shape.slotThreads());
        launchOf(table, "guess_" + pass.name(), slotBlocks, shape.slotThreads(), 0);
        if (pass.tiles() == 0) {
            return;
        }
        int scanBlocks = blocks(pass.partitions(), shape.scanThreads());
        int resident = driver.multiprocessors() * shape.tileBlocksPerSm();
        int countBlocks = Math.min(pass.tiles(), resident);
        int scatterBlocks = Math.min(pass.tiles(), resident * shape.scatterWaves());
        int threads = shape.tileThreads();
        int scatterBytes = pass.scatterBytes();
        String guessed = "scatter_" + pass.name() + "_guessed";
        launchOf(table, guessed, pass.tiles(), threads, scatterBytes);
        for (String attempt : new String[] {"_sampled", "_counted"}) {
            String step = pass.name() + attempt;
            int countBytes = Integer.BYTES * pass.digits();
            launchOf(table, "clear_" + step, slotBlocks, shape.slotThreads(), 0);
            launchOf(table, "count_" + step, countBlocks, threads, countBytes);
            launchOf(table, "lay_out_" + step, scanBlocks, shape.scanThreads(), 0);
            launchOf(table, "scatter_" + step, scatterBlocks, threads, scatterBytes);
        }
    }

    private static int blocks(int items, int blockItems) {
        return (items + blockItems - 1) / blockItems;
    }

    private void launchOf(int table, String kernel, int blocks, int threads, int sharedBytes) {
        launch(kernel, blocks, threads, sharedBytes, plan.call(), new long[] {table});
    }

    private void launch(
            String kernel, int blocks, int threads, int sharedBytes, long[]... arguments) {
        driver.launchWithSharedMemory(
                PREFIX + kernel + suffix, blocks, threads, sharedBytes, arguments);
    }
}
