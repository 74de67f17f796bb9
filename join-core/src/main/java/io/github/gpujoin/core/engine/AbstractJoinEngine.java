// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.engine;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.MemoryRefusedException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The part that all engines share: state changes, checks of arguments, the queue of in-flight probe
 * chunks, and statistics. Subclasses build the tables and produce the results.
 *
 * <p>Only one thread at a time may call an engine, except for {@link #state()} and {@link
 * #stats()}.
 *
 * @param <P> what the engine records for an in-flight probe chunk
 */
public abstract class AbstractJoinEngine<P extends ProbeQueue.Probe> implements JoinEngine {

    private final JoinSpec spec;
    private final ProbeQueue<P> queue;
    private volatile EngineState state = EngineState.LOADING;
    private volatile long buildRows;
    private volatile long buildBytes;

    /**
     * @param maxInFlight probe chunks that may be in flight at once
     * @throws IllegalArgumentException if a group column is text; see {@link GroupCodes}
     */
    protected AbstractJoinEngine(JoinSpec spec, int maxInFlight) {
        EngineChecks.integerGroups(spec);
        this.spec = spec;
        this.queue = new ProbeQueue<>(spec, maxInFlight, pending -> open(pending));
    }

    // ------------------------------------------------------------------ for subclasses

    /**
     * Adds rows to a dimension, or applies the changes of a changelog dimension. If this method
     * throws, the engine is FAILED.
     *
     * @param chunk on the heap
     */
    protected abstract void append(int dimension, Chunk chunk);

    /**
     * Does the next part of the work that completes the tables. If this method throws, the engine
     * is FAILED.
     *
     * @param maxRows as for {@link #buildStep}
     * @return whether the tables are complete
     */
    protected abstract boolean buildTables(long maxRows);

    /** Returns the engine's record of a probe chunk that enters the queue. */
    protected abstract P open(InFlightProbe pending);

    /** Runs after a chunk was queued. If this method throws, the engine is FAILED. */
    protected void queued(Chunk chunk) {}

    /**
     * Returns the next results, already counted in the {@linkplain #queue() queue}, or null if none
     * are ready.
     */
    protected abstract @Nullable ResultBatch nextBatch();

    /** Returns the groups so far and clears them; for aggregating engines. */
    protected abstract GroupRows drainedGroups();

    /** Returns the memory of the tables in bytes, without tables that another engine counts. */
    protected abstract long tableBytes();

    /** Returns the bytes of all submitted build rows. */
    protected final long buildBytes() {
        return buildBytes;
    }

    /** Frees all memory. Called once. */
    protected abstract void release();

    // ------------------------------------------------------------------ life cycle

    @Override
    public final JoinSpec spec() {
        return spec;
    }

    @Override
    public final EngineState state() {
        return state;
    }

    protected final ProbeQueue<P> queue() {
        return queue;
    }

    /**
     * Runs a step. If the step throws, the engine is FAILED.
     *
     * @throws EngineUnavailableException if a reservation of memory was refused
     */
    protected final void orFail(Runnable step) {
        try {
            step.run();
        } catch (MemoryRefusedException e) {
            fail();
            throw EngineUnavailableException.noMemory(e);
        } catch (Throwable e) {
            fail();
            throw e;
        }
    }

    protected final void fail() {
        if (state != EngineState.FAILED) {
            state = state.to(EngineState.FAILED);
        }
    }

    /**
     * Checks that other engines may share the tables of this one.
     *
     * @throws IllegalStateException unless JOINING; if a dimension is a changelog
     */
    protected final void requireForkable() {
        state.require(EngineState.JOINING);
        if (spec.hasChangelog()) {
            throw new IllegalStateException(
                    "Tables of changelog dimensions cannot be shared: dimensions="
                            + spec.dimensions().stream().map(DimensionSpec::name).toList());
        }
    }

    /** Enters JOINING with the finished tables of another engine. */
    protected final void joinAs(AbstractJoinEngine<P> built) {
        buildRows = built.buildRows;
        buildBytes = built.buildBytes;
        state = state.to(EngineState.JOINING);
    }

    @Override
    public final void close() {
        if (state != EngineState.CLOSED) {
            state = state.to(EngineState.CLOSED);
            queue.clear();
            release();
        }
    }

    // ------------------------------------------------------------------ build side

    @Override
    public final void submitBuild(int dimension, Chunk chunk) {
        EngineChecks.submittingBuild(spec, state, dimension, queue.size());
        EngineChecks.buildSide(spec, dimension, chunk);
        orFail(() -> append(dimension, chunk.onHeap()));
        countBuild(chunk.rowCount(), EngineChecks.payloadBytes(chunk));
    }

    /**
     * Adds build rows to the statistics. {@link #submitBuild} already counts the rows of its
     * chunks.
     */
    protected final void countBuild(long rows, long bytes) {
        buildRows += rows;
        buildBytes += bytes;
    }

    @Override
    public final boolean buildStep(long maxRows) {
        if (state != EngineState.BUILDING) {
            state.require(EngineState.LOADING);
            state = state.to(EngineState.BUILDING);
        }
        boolean[] complete = new boolean[1];
        orFail(() -> complete[0] = buildTables(maxRows));
        if (complete[0]) {
            state = state.to(EngineState.JOINING);
        }
        return complete[0];
    }

    // ------------------------------------------------------------------ probe side

    @Override
    public final boolean submitProbe(Chunk chunk, int firstRow) {
        state.require(EngineState.JOINING);
        verify(chunk);
        boolean isQueued = queue.submit(chunk, firstRow);
        if (isQueued) {
            orFail(() -> queued(chunk));
        }
        return isQueued;
    }

    private void verify(Chunk chunk) {
        if (!verifiesSlots()) {
            chunk.verify();
        }
    }

    @Override
    public final @Nullable ResultBatch poll() {
        state.require(EngineState.JOINING);
        return nextBatch();
    }

    @Override
    public final GroupRows drainGroups() {
        state.require(EngineState.JOINING);
        EngineChecks.drainingGroups(spec, queue.size(), awaitsDrain());
        GroupRows groups = drainedGroups();
        queue.delivered(groups);
        return groups;
    }

    @Override
    public final int inFlightCount() {
        return queue.size();
    }

    @Override
    public final List<InFlightProbe> snapshot() {
        return queue.snapshot();
    }

    @Override
    public final void restore(List<InFlightProbe> pending) {
        state.require(EngineState.JOINING);
        pending.forEach(probe -> verify(probe.chunk()));
        queue.restore(pending);
        orFail(() -> pending.forEach(probe -> queued(probe.chunk())));
    }

    @Override
    public final EngineStats stats() {
        return new EngineStats(
                buildRows, buildBytes, tableBytes(), queue.probeRows(), queue.resultRows());
    }
}
