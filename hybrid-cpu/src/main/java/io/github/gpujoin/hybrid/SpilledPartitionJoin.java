// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

import io.github.gpujoin.core.engine.EngineUnavailableException;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import java.util.BitSet;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Joins probe chunks of a spilled partition, or of all partitions of a spilled group, with
 * temporary tables.
 *
 * <p>The tables stay in host memory while chunks of the same partitions follow each other. If the
 * build rows do not fit, each chunk passes over them slice by slice, and none of its rows is
 * complete before the last slice. Not thread-safe.
 */
final class SpilledPartitionJoin implements AutoCloseable {

    /** Load steps of one poll. */
    private static final int STEPS = 16;

    private static final long RETRY_NS = TimeUnit.MILLISECONDS.toNanos(1);

    private final JoinSpec spec;
    private final int dimension;
    private final JoinKind kind;
    private final int firstPartition;
    private final int endPartition;
    private final TierEngines host;
    private final BuildChunks log;
    private final Consumer<JoinEngine> retire;
    private final BooleanSupplier makeRoom;
    private final long memoryWaitNs;
    private final long chunks;

    /** Largest number of build chunks of a slice. */
    private long sliceChunks;

    private long sliceFrom;
    private @Nullable TableLoad load;
    private @Nullable JoinEngine engine;
    private boolean submitted;

    /** Start of the wait for memory; meaningless unless {@code waits}. */
    private long waitsSinceNs;

    private boolean waits;
    private long retryAtNs = System.nanoTime();

    /** Outcome of earlier slices by probe row; see {@link #remember()}. */
    private final BitSet before = new BitSet();

    private final BitSet inSlice = new BitSet();
    private final BatchRows agreedRows;

    /**
     * @param dimension the partitioned one
     * @param first chunk to join
     * @param retire receives engines that are no longer used; their last batch may still be read
     * @param makeRoom asks others to free host memory until the next poll; false if none can
     * @param memoryWaitNs longest wait for the minimum of memory, which others may hold
     */
    SpilledPartitionJoin(
            JoinSpec spec,
            int dimension,
            HybridProbe first,
            TierEngines host,
            BuildChunks log,
            Consumer<JoinEngine> retire,
            BooleanSupplier makeRoom,
            long memoryWaitNs) {
        this.spec = spec;
        this.dimension = dimension;
        this.kind = spec.dimensions().get(dimension).kind();
        this.firstPartition = first.firstPartition();
        this.endPartition = first.endPartition();
        this.host = host;
        this.log = log;
        this.retire = retire;
        this.makeRoom = makeRoom;
        this.memoryWaitNs = memoryWaitNs;
        this.chunks = log.count(firstPartition, endPartition);
        this.sliceChunks = chunks;
        this.agreedRows = new BatchRows(spec);
    }

    /** Returns whether a probe has rows of exactly these partitions. */
    boolean isOf(HybridProbe probe) {
        return firstPartition == probe.firstPartition() && endPartition == probe.endPartition();
    }

    /** Returns the engine with the temporary tables; null if there is none. */
    @Nullable JoinEngine engine() {
        return engine;
    }

    /** Returns the index of the build chunk after the slice. */
    private long sliceTo() {
        return Math.min(chunks, sliceFrom + sliceChunks);
    }

    private boolean isWhole() {
        return sliceChunks == chunks;
    }

    /**
     * Continues with the oldest chunk.
     *
     * @return null while tables are built or groups must be drained
     */
    @Nullable ResultBatch poll(HybridProbe head) {
        if (engine == null && !isLoaded()) {
            return null;
        }
        if (!submitted) {
            engine.submitProbe(head.chunk(), head.completedRows());
            submitted = true;
            if (!head.isSubmitted()) {
                head.markSubmitted();
            }
        }
        ResultBatch batch = engine.poll();
        if (batch == null) {
            return null;
        }
        boolean chunkDone = batch.isLast();
        submitted = !chunkDone;
        return isWhole() ? batch : ofSlice(batch, head, chunkDone);
    }

    private ResultBatch ofSlice(ResultBatch batch, HybridProbe head, boolean chunkDone) {
        ResultBatch result = agreed(batch);
        boolean nothingLeft = head.completedRows() == head.chunk().rowCount();
        boolean last = chunkDone && (sliceTo() == chunks || nothingLeft);
        result.set(
                head.chunk(),
                result.rowCount(),
                last ? batch.completedRows() : head.completedRows());
        if (chunkDone) {
            nextSlice(last);
        }
        return result;
    }

    private void nextSlice(boolean startOver) {
        remember();
        if (startOver) {
            before.clear();
        }
        sliceFrom = startOver ? 0 : sliceTo();
        retire.accept(engine);
        engine = null;
    }

    /** Returns the rows that no other slice can change. */
    private ResultBatch agreed(ResultBatch batch) {
        if (kind == JoinKind.INNER) {
            return batch;
        }
        int[] rows = new int[batch.rowCount()];
        int count = 0;
        for (int row = 0; row < batch.rowCount(); row++) {
            if (isAgreed(batch, row)) {
                rows[count++] = row;
            }
        }
        return count == batch.rowCount() ? batch : agreedRows.copy(batch, rows, count);
    }

    /** A semi join emits the first match; a missing match is certain after the last slice. */
    private boolean isAgreed(ResultBatch batch, int row) {
        int probeRow = batch.probeRow(row);
        if (kind == JoinKind.SEMI) {
            inSlice.set(probeRow);
            return !before.get(probeRow);
        }
        if (kind == JoinKind.LEFT && batch.isMatched(dimension, row)) {
            return true;
        }
        inSlice.set(probeRow);
        return sliceTo() == chunks && (sliceFrom == 0 || before.get(probeRow));
    }

    /**
     * Accumulates, for a semi join, rows that matched in any slice; otherwise rows that matched in
     * none.
     */
    private void remember() {
        if (kind == JoinKind.SEMI || sliceFrom == 0) {
            before.or(inSlice);
        } else {
            before.and(inSlice);
        }
        inSlice.clear();
    }

    // ------------------------------------------------------------------ tables

    /** Continues to build the tables of the slice, and returns whether they are complete. */
    private boolean isLoaded() {
        if (System.nanoTime() - retryAtNs < 0) {
            return false;
        }
        try {
            if (load == null) {
                load =
                        new TableLoad(
                                host.newEngine(dimension, TableLocation.HOST),
                                dimension,
                                log.slice(firstPartition, endPartition, sliceFrom, sliceTo()));
            }
            for (int step = 0; step < STEPS; step++) {
                if (load.step(JoinEngine.BUILD_STEP_ROWS, 1)) {
                    engine = load.detachEngine();
                    load = null;
                    waits = false;
                    return true;
                }
            }
        } catch (EngineUnavailableException e) {
            refused(e);
        }
        return false;
    }

    /** Frees memory of others, makes the slices smaller, or waits for memory. */
    private void refused(EngineUnavailableException e) {
        long loaded = load == null ? 0 : load.loadedChunks();
        closeLoad();
        if (makeRoom.getAsBoolean()) {
            return;
        }
        long now = System.nanoTime();
        retryAtNs = now + RETRY_NS;
        boolean onlyWhole = kind != JoinKind.INNER && spec.isAggregating();
        if (loaded > 0 && sliceChunks > 1 && !onlyWhole) {
            sliceChunks = Math.max(1, loaded / 2);
            return;
        }
        if (!waits) {
            waits = true;
            waitsSinceNs = now;
        } else if (now - waitsSinceNs > memoryWaitNs) {
            throw noRoom(
                    onlyWhole
                            ? "one whole partition, which left, anti and semi joins with groups"
                                    + " need"
                            : "the replicated dimensions and one chunk of the other",
                    e);
        }
    }

    private IllegalStateException noRoom(String need, EngineUnavailableException e) {
        return new IllegalStateException(
                "Host memory budget (OVER_HOST_BUDGET) is too small for "
                        + need
                        + ": dimension="
                        + spec.dimensions().get(dimension).name()
                        + ", partition="
                        + firstPartition
                        + ", availableBytes="
                        + host.availableBytes(TableLocation.HOST)
                        + ". Raise gpu-join.cpu.memory or taskmanager.memory.managed.size.",
                e);
    }

    private void closeLoad() {
        if (load != null) {
            load.close();
            load = null;
        }
    }

    /** Closes the tables; the last batch may still be read. */
    @Override
    public void close() {
        closeLoad();
        agreedRows.close();
        if (engine != null) {
            retire.accept(engine);
            engine = null;
        }
    }
}
