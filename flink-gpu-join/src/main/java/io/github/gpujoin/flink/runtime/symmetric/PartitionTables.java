// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.symmetric;

import io.github.gpujoin.core.engine.EngineUnavailableException;
import io.github.gpujoin.core.region.MemoryRefusedException;
import io.github.gpujoin.core.symmetric.SymmetricJoin;
import io.github.gpujoin.flink.engine.SymmetricJoinOpener;
import io.github.gpujoin.kernels.binding.GpuFailure;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.flink.util.function.ThrowingRunnable;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The tables of a subtask: one join of all partitions that fit memory. The rows of other partitions
 * are spilled: in the logs only, until their tables are opened for a while. A partition stays
 * spilled until the job restarts.
 *
 * <p>Runs in the task's mailbox thread.
 */
final class PartitionTables implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(PartitionTables.class);

    /**
     * A part of one in this many of the memory is left for a spilled partition. The other tables
     * would occupy all of it, since a join spills chunks only when memory is refused.
     */
    private static final int PARTS = 4;

    private final String name;
    private final SymmetricJoinOpener.Opened opened;
    private final SymmetricState state;
    private final ThrowingRunnable<Exception> checkNotCancelled;
    private final long memoryBytes;
    private final Set<Integer> spilled = new HashSet<>();

    /** Parts of the memory that are left for a spilled partition. */
    private int partsLeft;

    private SymmetricJoin join;

    /** Name of the implementation of the join. */
    private String implementation;

    /**
     * @param name of the join, for messages
     * @param checkNotCancelled throws if the task has been cancelled
     */
    PartitionTables(
            String name,
            SymmetricJoinOpener.Opened opened,
            SymmetricState state,
            ThrowingRunnable<Exception> checkNotCancelled) {
        this.name = name;
        this.opened = opened;
        this.state = state;
        this.checkNotCancelled = checkNotCancelled;
        this.memoryBytes = opened.availableBytes();
        this.join = opened.create();
        this.implementation = opened.name();
    }

    /** Returns the join of all partitions that are not spilled. */
    SymmetricJoin join() {
        return join;
    }

    boolean isSpilled(int partition) {
        return spilled.contains(partition);
    }

    int spilledCount() {
        return spilled.size();
    }

    /**
     * Loads the tables from the logs, and spills partitions until the others fit.
     *
     * @throws IllegalStateException if not even empty tables fit
     */
    void load(long timeMs) throws Exception {
        while (true) {
            try {
                for (int partition : state.keys().ownPartitions()) {
                    if (!isSpilled(partition)) {
                        load(join, partition, timeMs);
                    }
                }
                join.finishLoad(timeMs);
                return;
            } catch (MemoryRefusedException e) {
                spillLargest(e);
                reopen();
            } catch (EngineUnavailableException e) {
                replace(e);
            }
        }
    }

    /**
     * Spills some partitions, and loads the tables of the others again. Nothing may be amid a row.
     *
     * @throws IllegalStateException if all are spilled
     */
    void spill(long timeMs, MemoryRefusedException cause) throws Exception {
        if (cause.getSuppressed().length > 0) {
            LOG.warn("Chunks of regular join '{}' cannot be spilled to files.", name, cause);
        }
        spillLargest(cause);
        reopen();
        load(timeMs);
        LOG.info(
                "Partitions of regular join '{}' exceed memory and are joined from state: spilled={},"
                        + " memoryBytes={}",
                name,
                spilled.size(),
                memoryBytes);
    }

    /**
     * Leaves more memory for a spilled partition: the tables of the others move chunks to files,
     * and only then are partitions spilled.
     *
     * @throws IllegalStateException if all are spilled
     */
    void makeRoom(long timeMs, MemoryRefusedException cause) throws Exception {
        if (partsLeft < PARTS - 1) {
            partsLeft++;
        } else {
            spillLargest(cause);
        }
        reopen();
        load(timeMs);
    }

    /**
     * Loads the tables by the next implementation, since the device of the present one has failed
     * or has no memory. Nothing may be amid a row.
     *
     * @throws EngineUnavailableException if there is no other one
     */
    void fallBack(long timeMs, EngineUnavailableException cause) throws Exception {
        replace(cause);
        load(timeMs);
    }

    private void replace(EngineUnavailableException cause) {
        join.close();
        opened.fallBack(implementation, cause);
        create();
    }

    private void create() {
        join = opened.create(limitBytes());
        implementation = opened.name();
    }

    /** Returns why no GPU joins, if one was tried. */
    @Nullable GpuFailure refusal() {
        return opened.refusal();
    }

    private long limitBytes() {
        return partsLeft == 0 ? Long.MAX_VALUE : memoryBytes - partsLeft * (memoryBytes / PARTS);
    }

    private void reopen() {
        join.close();
        partsLeft = Math.max(1, partsLeft);
        create();
    }

    /** Spills the longest logs, up to a part of all bytes. */
    private void spillLargest(MemoryRefusedException cause) throws Exception {
        Map<Integer, Long> bytes = new HashMap<>();
        long allBytes = 0;
        for (int partition : state.keys().ownPartitions()) {
            if (!isSpilled(partition)) {
                bytes.put(partition, state.bytes(partition));
                allBytes += state.bytes(partition);
            }
        }
        List<Integer> largestFirst = new ArrayList<>(bytes.keySet());
        largestFirst.sort((a, b) -> Long.compare(bytes.get(b), bytes.get(a)));
        long spilledBytes = 0;
        for (int partition : largestFirst) {
            spilled.add(partition);
            spilledBytes += bytes.get(partition);
            if (spilledBytes >= allBytes / PARTS) {
                break;
            }
        }
        if (largestFirst.isEmpty()) {
            throw SymmetricJoinOpener.refusal(name, cause);
        }
    }

    /** Opens the tables of a spilled partition. The caller closes the join. */
    SymmetricJoin open(int partition, long timeMs) throws Exception {
        SymmetricJoin opening = opened.create();
        try {
            load(opening, partition, timeMs);
            opening.finishLoad(timeMs);
            return opening;
        } catch (Throwable e) {
            opening.close();
            throw e;
        }
    }

    private void load(SymmetricJoin into, int partition, long timeMs) throws Exception {
        for (int i = 0; i < into.inputs().size(); i++) {
            int input = i;
            state.log(input)
                    .replay(
                            partition,
                            rows -> {
                                checkNotCancelled.run();
                                into.load(input, rows.chunk(), Math.min(rows.timeMs(), timeMs));
                            });
        }
    }

    @Override
    public void close() {
        join.close();
    }
}
