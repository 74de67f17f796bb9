package io.github.gpujoin.core.engine;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.MemoryRefusedException;
import java.util.List;

/**
 * What engines have in common: their life, checks of arguments, probe chunks in flight, and the
 * account of what was built and delivered. An engine says how tables are made and what comes next.
 *
 * <p>One thread calls at a time, but for {@link #state()} and {@link #stats()}.
 *
 * @param <P> what the engine keeps of a probe chunk in flight
 */
public abstract class AbstractJoinEngine<P extends ProbeQueue.Probe> implements JoinEngine {

    private final JoinSpec spec;
    private final ProbeQueue<P> queue;
    private volatile EngineState state = EngineState.LOADING;
    private volatile long buildRows;
    private volatile long buildBytes;

    /**
     * @param maxInFlight probe chunks that may be submitted at once
     */
    protected AbstractJoinEngine(JoinSpec spec, int maxInFlight) {
        this.spec = spec;
        this.queue = new ProbeQueue<>(spec, maxInFlight, pending -> open(pending));
    }

    // ------------------------------------------------------------------ what an engine says

    /**
     * Takes rows of a dimension in, or applies them where it changes; an error leaves the engine
     * FAILED.
     */
    protected abstract void append(int dimension, Chunk chunk);

    /**
     * Does the next part of the work that completes the tables, and what else it takes to probe; an
     * error leaves the engine FAILED.
     *
     * @param maxRows as of {@link #buildStep}
     * @return whether all of it is done
     */
    protected abstract boolean buildTables(long maxRows);

    protected abstract P open(PendingProbe pending);

    /** The chunk is in the queue; an error leaves the engine FAILED. */
    protected void queued(Chunk chunk) {}

    /**
     * The next results, accounted for in the {@linkplain #queue() queue}; null where none is ready.
     */
    protected abstract ResultBatch nextBatch();

    /** Groups so far, of an aggregating engine. */
    protected abstract GroupRows takenGroups();

    /** Memory that the tables take, but for those in another engine's account. */
    protected abstract long tableBytes();

    /** Bytes of build rows as they came. */
    protected final long buildBytes() {
        return buildBytes;
    }

    /** Gives all memory back; called once. */
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

    /** An error leaves the engine FAILED. */
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
     * For engines whose tables others may share.
     *
     * @throws IllegalStateException unless JOINING; where a dimension changes
     */
    protected final void requireForkable() {
        state.require(EngineState.JOINING);
        if (spec.changes()) {
            throw new IllegalStateException(
                    "tables that change are of one engine: dimensions="
                            + spec.dimensions().stream().map(DimensionSpec::name).toList());
        }
    }

    /** Goes on with the finished tables of another engine. */
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
        orFail(() -> append(dimension, chunk));
        countBuild(chunk.rowCount(), EngineChecks.payloadBytes(chunk));
    }

    /** Takes build rows to the account; those of submitted chunks are there already. */
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
        boolean taken = queue.submit(chunk, firstRow);
        if (taken) {
            orFail(() -> queued(chunk));
        }
        return taken;
    }

    @Override
    public final ResultBatch poll() {
        state.require(EngineState.JOINING);
        return nextBatch();
    }

    @Override
    public final GroupRows takeGroups() {
        state.require(EngineState.JOINING);
        EngineChecks.takingGroups(spec, queue.size(), awaitsTake());
        GroupRows taken = takenGroups();
        queue.delivered(taken);
        return taken;
    }

    @Override
    public final int inFlight() {
        return queue.size();
    }

    @Override
    public final List<PendingProbe> snapshot() {
        return queue.snapshot();
    }

    @Override
    public final void restore(List<PendingProbe> pending) {
        state.require(EngineState.JOINING);
        queue.restore(pending);
        orFail(() -> pending.forEach(probe -> queued(probe.chunk())));
    }

    @Override
    public final EngineStats stats() {
        return new EngineStats(
                buildRows, buildBytes, tableBytes(), queue.probeRows(), queue.resultRows());
    }
}
