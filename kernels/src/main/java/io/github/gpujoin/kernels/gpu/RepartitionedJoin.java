// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.kernels.binding.CudaDriver;
import io.github.gpujoin.kernels.binding.KernelImage;
import io.github.gpujoin.kernels.binding.KernelQueue;
import io.github.gpujoin.kernels.gpu.RepartitionedCall.LaunchShape;
import io.github.gpujoin.kernels.gpu.RepartitionedCall.Part;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * Inner equi-join of two tables of which each device of a group holds a part (the kernels of {@code
 * repartitioned.cu}; Gao and Sakharnykh, "Scaling Joins to a Thousand GPUs", ADMS 2021, section 3).
 * The exchange is the first radix pass: kernels store each row in the memory of the device that
 * owns its key, and that device joins it. The probe table is exchanged in chunks, each of which is
 * joined while the next one arrives.
 *
 * <p>Keys may repeat in both tables; the order of results is undefined. All rows of a key are
 * joined by one device, so a heavy hitter limits the speed-up. The serving kernels must be stopped,
 * as they occupy the devices. Not thread-safe.
 */
final class RepartitionedJoin implements AutoCloseable {

    /** Maximum rows of a table on all devices together: positions in a workspace have 32 bits. */
    static final long MAX_ROWS = 1L << 31;

    private static final String PREFIX = "gpujoin_repartitioned_";
    private static final int BUILD_TRANSFER = 0;

    /** Marks 0 and 1 are those of transfers with even and odd numbers. */
    private static final int START_MARK = 2;

    private final List<Member> members = new ArrayList<>();
    private final String suffix;
    private final int chunks;

    /**
     * @param group of 1, 2, 4 or 8 members with access to each other's memory
     * @param wordBits of keys and payloads, 32 or 64
     * @param chunks of the probe table, up to {@link RepartitionedCall#MAX_CHUNKS}, or 0 to choose
     *     them by its size
     * @param scratch owner of the memory used here, for each member
     * @throws io.github.gpujoin.kernels.binding.GpuUnavailableException if there is no image of the
     *     kernels for a device, or no memory
     */
    RepartitionedJoin(DeviceGroup group, int wordBits, int chunks, List<Buffers> scratch) {
        if (wordBits != Integer.SIZE && wordBits != Long.SIZE) {
            throw new IllegalArgumentException(
                    "Words of a repartitioned join must have 32 or 64 bits: wordBits=" + wordBits);
        }
        if (group.size() > RepartitionedCall.MAX_MEMBERS || Integer.bitCount(group.size()) != 1) {
            throw new IllegalArgumentException(
                    "A repartitioned join needs 1, 2, 4 or 8 devices: devices=%d. Use fewer of them."
                            .formatted(group.size()));
        }
        if (!group.hasPeerAccess()) {
            throw new IllegalArgumentException(
                    "Devices cannot store rows in each other's memory: devices=%d. Join on one device, or enable gpu-join.gpu.peer-access."
                            .formatted(group.size()));
        }
        if (chunks < 0 || chunks > RepartitionedCall.MAX_CHUNKS) {
            throw new IllegalArgumentException(
                    "Chunks of a repartitioned join must be 0 to %d: chunks=%d"
                            .formatted(RepartitionedCall.MAX_CHUNKS, chunks));
        }
        this.suffix = "_" + wordBits;
        this.chunks = chunks;
        try {
            for (int n = 0; n < group.size(); n++) {
                members.add(new Member(group.members().get(n).driver(), scratch.get(n)));
            }
        } catch (Throwable e) {
            close();
            throw e;
        }
    }

    /**
     * Returns the bytes of workspace of each member. They suffice for all keys: one member may
     * receive all rows.
     *
     * @param parts of which only the numbers of rows count
     */
    long workspaceBytes(List<Part> parts) {
        requireRows(parts);
        return members.get(0).plan(parts, 0, new long[members.size()]).workspaceBytes();
    }

    private static void requireRows(List<Part> parts) {
        long buildRows = parts.stream().mapToLong(part -> part.build().rows()).sum();
        long probeRows = parts.stream().mapToLong(part -> part.probe().rows()).sum();
        if (buildRows > MAX_ROWS || probeRows > MAX_ROWS) {
            throw new IllegalArgumentException(
                    "A table exceeds 2^31 rows: buildRows=%d, probeRows=%d. Divide both tables by a hash of the key."
                            .formatted(buildRows, probeRows));
        }
    }

    /**
     * Queues the join and returns. The memory of inputs, results and workspaces does not overlap,
     * and remains valid until {@link #isIdle}.
     *
     * @param parts of the members, in their order
     * @param workspaces device addresses of {@link #workspaceBytes} each, multiples of {@link
     *     ResidentCall#ALIGNMENT_BYTES}
     */
    void start(List<Part> parts, long[] workspaces) {
        requireRows(parts);
        List<Plan> plans = new ArrayList<>();
        for (int n = 0; n < members.size(); n++) {
            plans.add(members.get(n).plan(parts, n, workspaces));
        }
        // Peers write to a workspace, so the last join must have read it.
        members.forEach(member -> member.joins.mark(START_MARK));
        members.forEach(member -> awaitAll(member.exchanges, peer -> peer.joins, START_MARK));
        for (int transfer = 0; transfer <= plans.get(0).launch().chunks(); transfer++) {
            int parity = transfer % 2;
            for (int n = 0; n < members.size(); n++) {
                Member member = members.get(n);
                if (transfer >= 2) {
                    // The inboxes have been read.
                    awaitAll(member.exchanges, peer -> peer.joins, parity);
                }
                member.exchange(plans.get(n), transfer);
                member.exchanges.mark(parity);
            }
            for (int n = 0; n < members.size(); n++) {
                Member member = members.get(n);
                awaitAll(member.joins, peer -> peer.exchanges, parity);
                member.partition(plans.get(n), transfer);
                member.joins.mark(parity);
                if (transfer != BUILD_TRANSFER) {
                    member.join(plans.get(n), transfer);
                }
            }
        }
    }

    private void awaitAll(KernelQueue waiting, Function<Member, KernelQueue> queueOf, int mark) {
        members.forEach(member -> waiting.await(queueOf.apply(member), mark));
    }

    /**
     * Returns whether all members have joined what was started. If {@link #start} failed, some may
     * still exchange rows.
     */
    boolean isIdle() {
        return members.stream()
                .allMatch(member -> member.exchanges.isIdle() && member.joins.isIdle());
    }

    @Override
    public void close() {
        members.forEach(Member::close);
        members.clear();
    }

    /** A planned part of a join: its workspace, how to launch its kernels, and their parameter. */
    private record Plan(long workspaceBytes, LaunchShape launch, long[] call) {}

    /** The blocks of the kernels of a radix pass. */
    private record PassGrid(
            int partitions,
            int digits,
            int guessedBlocks,
            int countBlocks,
            int scatterBlocks,
            int threads,
            int sharedBytes) {}

    /** A device, with a queue for exchanges and one for all other kernels. */
    private final class Member {

        private final CudaDriver driver;
        private final long call;
        private final KernelQueue exchanges;
        private final KernelQueue joins;

        Member(CudaDriver driver, Buffers scratch) {
            this.driver = driver;
            driver.load(KernelImage.REPARTITIONED);
            this.call = scratch.device(RepartitionedCall.BYTES);
            // A late exchange delays all members.
            this.exchanges = driver.openQueue(true);
            try {
                this.joins = driver.openQueue(false);
            } catch (Throwable e) {
                exchanges.close();
                throw e;
            }
        }

        Plan plan(List<Part> parts, int member, long[] workspaces) {
            try (Region region = Region.allocateZeroed(RepartitionedCall.BYTES)) {
                long address = region.address();
                RepartitionedCall.write(address, parts, member, chunks, workspaces);
                driver.copyToDevice(call, address, RepartitionedCall.BYTES);
                driver.launch(PREFIX + "plan" + suffix, 1, 1, call);
                driver.copyToHost(address, call, RepartitionedCall.BYTES);
                return new Plan(
                        Memory.getLong(address + RepartitionedCall.WORKSPACE_BYTES_OFFSET),
                        LaunchShape.read(address + RepartitionedCall.LAUNCH_OFFSET),
                        RepartitionedCall.words(address));
            }
        }

        /** Queues the stores of a transfer to all members. */
        void exchange(Plan plan, int transfer) {
            LaunchShape shape = plan.launch();
            // Nothing else runs during the exchange of the build table.
            int blocks =
                    Math.min(
                            shape.exchangeTiles().get(transfer),
                            transfer == BUILD_TRANSFER
                                    ? driver.multiprocessors()
                                    : exchangeBlocks(shape));
            startPass(
                    exchanges,
                    "exchange",
                    new PassGrid(
                            shape.exchangePartitions(),
                            shape.exchangePartitions(),
                            blocks,
                            blocks,
                            blocks,
                            shape.exchangeThreads(),
                            shape.exchangeBytes()),
                    plan,
                    transfer);
            launch(exchanges, plan, "publish", 1, shape.scanThreads(), 0, transfer);
        }

        /** Returns the blocks of an exchange, each on a multiprocessor of its own. */
        private int exchangeBlocks(LaunchShape shape) {
            return Math.max(1, driver.multiprocessors() * shape.exchangePercent() / 100);
        }

        /** Queues the second pass over the rows of a transfer that all members sent. */
        void partition(Plan plan, int transfer) {
            LaunchShape shape = plan.launch();
            int resident = driver.multiprocessors() * shape.secondBlocksPerSm();
            launch(joins, plan, "map_received", 1, shape.scanThreads(), 0, transfer);
            startPass(
                    joins,
                    "second",
                    new PassGrid(
                            shape.partitions(),
                            shape.secondDigits(),
                            shape.secondTiles().get(transfer),
                            resident,
                            resident * shape.scatterWaves(),
                            shape.secondThreads(),
                            shape.secondBytes()),
                    plan,
                    transfer);
        }

        /** Queues the join of a chunk of the probe table. */
        void join(Plan plan, int transfer) {
            LaunchShape shape = plan.launch();
            launch(joins, plan, "items", 1, shape.scanThreads(), 0, transfer);
            // Blocks of a join stay until it has ended, so they leave room for the next exchange.
            int joining =
                    driver.multiprocessors()
                            - (transfer == shape.chunks() ? 0 : exchangeBlocks(shape));
            joins.launch(
                    PREFIX + "join" + suffix,
                    joining * shape.joinBlocksPerSm(),
                    shape.joinThreads(),
                    shape.joinBytes(),
                    plan.call());
        }

        /**
         * Queues the attempt with guessed sizes, and those with sampled and counted sizes, which
         * return at once if an earlier attempt succeeded.
         */
        private void startPass(
                KernelQueue queue, String pass, PassGrid grid, Plan plan, int transfer) {
            LaunchShape shape = plan.launch();
            int slotBlocks = blocks(grid.partitions(), shape.slotThreads());
            int scanBlocks = blocks(grid.partitions(), shape.scanThreads());
            int threads = grid.threads();
            int bytes = grid.sharedBytes();
            launch(queue, plan, "guess_" + pass, slotBlocks, shape.slotThreads(), 0, transfer);
            String guessed = "scatter_" + pass + "_guessed";
            launch(queue, plan, guessed, grid.guessedBlocks(), threads, bytes, transfer);
            for (String attempt : new String[] {"_sampled", "_counted"}) {
                String step = pass + attempt;
                int countBytes = Integer.BYTES * grid.digits();
                launch(queue, plan, "clear_" + step, slotBlocks, shape.slotThreads(), 0, transfer);
                launch(
                        queue,
                        plan,
                        "count_" + step,
                        grid.countBlocks(),
                        threads,
                        countBytes,
                        transfer);
                launch(
                        queue,
                        plan,
                        "lay_out_" + step,
                        scanBlocks,
                        shape.scanThreads(),
                        0,
                        transfer);
                launch(
                        queue,
                        plan,
                        "scatter_" + step,
                        grid.scatterBlocks(),
                        threads,
                        bytes,
                        transfer);
            }
        }

        private static int blocks(int items, int blockItems) {
            return (items + blockItems - 1) / blockItems;
        }

        private void launch(
                KernelQueue queue,
                Plan plan,
                String kernel,
                int blocks,
                int threads,
                int sharedBytes,
                int transfer) {
            if (blocks > 0) {
                queue.launch(
                        PREFIX + kernel + suffix,
                        blocks,
                        threads,
                        sharedBytes,
                        plan.call(),
                        new long[] {transfer});
            }
        }

        void close() {
            exchanges.close();
            joins.close();
        }
    }
}
