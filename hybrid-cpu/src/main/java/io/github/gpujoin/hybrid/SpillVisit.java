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

/**
 * Joins chunks of one partition, or of all of a unit, that has no tables: makes them in the host's
 * memory for as long as chunks of the same partitions follow each other. Where they do not fit, a
 * chunk passes over the partition slice by slice, and none of its rows is complete before the last
 * slice.
 *
 * <p>Not thread-safe.
 */
final class SpillVisit implements AutoCloseable {

    /** Chunks that are loaded before others get their turn. */
    private static final int STEPS = 16;

    private static final long RETRY_NS = TimeUnit.MILLISECONDS.toNanos(1);

    private final JoinSpec spec;
    private final int dimension;
    private final JoinKind kind;
    private final int firstPartition;
    private final int endPartition;
    private final PlaceEngines host;
    private final BuildChunks log;
    private final Consumer<JoinEngine> retire;
    private final BooleanSupplier makeRoom;
    private final long memoryWaitNs;
    private final long chunks;

    /** Most chunks of a slice. */
    private long sliceChunks;

    private long sliceFrom;
    private TableLoad load;
    private JoinEngine engine;
    private boolean submitted;

    /** Since when there is no room for what is least loaded; meaningless unless it waits. */
    private long waitsSinceNs;

    private boolean waits;
    private long retryAtNs = System.nanoTime();

    /** Probe rows of the chunk, as {@link #remember()} says. */
    private final BitSet before = new BitSet();

    private final BitSet inSlice = new BitSet();
    private final BatchRows agreedRows;

    /**
     * @param first chunk of the visit
     * @param retire given engines that are no longer used, whose last batch may still be read
     * @param makeRoom has others give memory back by the next poll; false where there are none
     * @param memoryWaitNs longest time to wait for the least memory, which others may hold
     */
    SpillVisit(
            JoinSpec spec,
            int dimension,
            HybridProbe first,
            PlaceEngines host,
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

    /** Whether a chunk has rows of the partitions that are visited alone. */
    boolean isOf(HybridProbe probe) {
        return firstPartition == probe.firstPartition() && endPartition == probe.endPartition();
    }

    /** The engine over the tables that are made; null if there is none. */
    JoinEngine engine() {
        return engine;
    }

    /** Chunk of the log behind the slice's last one. */
    private long sliceTo() {
        return Math.min(chunks, sliceFrom + sliceChunks);
    }

    private boolean isWhole() {
        return sliceChunks == chunks;
    }

    /**
     * Goes on with the oldest chunk.
     *
     * @return null while tables are made, and where groups have to be taken
     */
    ResultBatch poll(HybridProbe head) {
        if (engine == null && !isLoaded()) {
            return null;
        }
        if (!submitted) {
            engine.submitProbe(head.chunk(), head.completedRows());
            submitted = true;
            if (!head.isSubmitted()) {
                head.submitted();
            }
        }
        ResultBatch batch = engine.poll();
        if (batch == null) {
            return null;
        }
        boolean answered = batch.isLast();
        submitted = !answered;
        return isWhole() ? batch : ofSlice(batch, head, answered);
    }

    private ResultBatch ofSlice(ResultBatch batch, HybridProbe head, boolean answered) {
        ResultBatch given = agreed(batch);
        boolean nothingLeft = head.completedRows() == head.chunk().rowCount();
        boolean last = answered && (sliceTo() == chunks || nothingLeft);
        given.set(
                head.chunk(),
                given.rowCount(),
                last ? batch.completedRows() : head.completedRows());
        if (answered) {
            nextSlice(last);
        }
        return given;
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

    /** Rows that are right whatever other slices say, or that all of them agree on by now. */
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

    /** A match counts once; that there is none is known after the last slice. */
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

    /** Of a semi join, rows that matched in any slice; else rows that matched in none. */
    private void remember() {
        if (kind == JoinKind.SEMI || sliceFrom == 0) {
            before.or(inSlice);
        } else {
            before.and(inSlice);
        }
        inSlice.clear();
    }

    // ------------------------------------------------------------------ tables

    /** Loads some more; whether the slice's tables are complete. */
    private boolean isLoaded() {
        if (System.nanoTime() - retryAtNs < 0) {
            return false;
        }
        try {
            if (load == null) {
                load =
                        new TableLoad(
                                host.newEngine(dimension),
                                dimension,
                                log.slice(firstPartition, endPartition, sliceFrom, sliceTo()));
            }
            for (int step = 0; step < STEPS; step++) {
                if (load.step(JoinEngine.BUILD_STEP_ROWS, 1)) {
                    engine = load.take();
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

    /** Tries less, or waits for memory that others hold while they visit. */
    private void refused(EngineUnavailableException e) {
        long loaded = load == null ? 0 : load.loadedChunks();
        closeLoad();
        if (makeRoom.getAsBoolean()) {
            return;
        }
        long now = System.nanoTime();
        retryAtNs = now + RETRY_NS;
        boolean onlyWhole = kind != JoinKind.INNER && spec.aggregates();
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
                            ? "has room for a whole partition where groups are not of an inner join"
                            : "has room for the replicated dimensions and one chunk of the other",
                    e);
        }
    }

    private IllegalStateException noRoom(String rule, EngineUnavailableException e) {
        return new IllegalStateException(
                "the host's memory budget "
                        + rule
                        + " (OVER_HOST_BUDGET): dimension="
                        + spec.dimensions().get(dimension).name()
                        + ", partition="
                        + firstPartition
                        + ", availableBytes="
                        + host.availableBytes(),
                e);
    }

    private void closeLoad() {
        if (load != null) {
            load.close();
            load = null;
        }
    }

    /** Ends the visit; the last batch may still be read. */
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
