package io.github.gpujoin.core.engine;

import io.github.gpujoin.core.layout.Chunk;
import java.util.List;

/**
 * Joins probe chunks against tables made of build chunks.
 *
 * <p>An engine is {@link EngineState#LOADING} until the first {@link #buildStep}, {@link
 * EngineState#BUILDING} until the last one, then {@link EngineState#JOINING} until {@link
 * #close()}. One that replaces a failed device by itself goes back to BUILDING; then {@link #poll}
 * does its steps and returns null. Its tables are caches: whoever feeds it keeps the build chunks
 * and can feed them again. One thread calls at a time. All engines give the same results for a
 * probe chunk, as a multiset of rows; probe chunks are answered in the order in which they were
 * submitted, and within a chunk in the order of probe rows. (An engine whose tables do not fit
 * memory may pass over a chunk several times, each time in that order; then no row is said to be
 * complete before all are.)
 *
 * <p>An engine whose {@linkplain JoinSpec#aggregates() spec aggregates} gives batches without rows,
 * which tell its progress, and its groups when they are {@linkplain #takeGroups() taken}.
 */
public interface JoinEngine extends AutoCloseable {

    JoinSpec spec();

    EngineState state();

    /**
     * Adds rows to a dimension's table. Keys may repeat, within the chunk and across chunks.
     *
     * <p>Rows of a dimension that {@linkplain DimensionSpec#changes() changes} are changes, applied
     * in order: by its {@link RowChange} each becomes the row of its key or takes that away. They
     * come while JOINING too, and are for the facts that are submitted after them.
     *
     * @throws IllegalStateException unless LOADING; where the dimension changes, unless LOADING, or
     *     JOINING with nothing in flight
     * @throws IllegalArgumentException where there is no such dimension or the schema is not its
     *     own
     */
    void submitBuild(int dimension, Chunk chunk);

    /** Rows of a {@linkplain #buildStep step} that takes a few milliseconds on one core. */
    long BUILD_STEP_ROWS = 1 << 15;

    /**
     * Does the next part of the work that completes the tables, so that the caller can look after
     * other things in between. A table takes several passes over its rows. An engine that waits for
     * a device, or for another thread that builds the tables, waits a millisecond at most.
     *
     * @param maxRows rows that a part passes over, about; at least 1. Calls of a device driver and
     *     of the operating system are not divided
     * @return whether the tables are complete, and the engine JOINING
     * @throws IllegalStateException unless LOADING or BUILDING
     */
    boolean buildStep(long maxRows);

    /**
     * Completes the tables, in one call that may take seconds.
     *
     * @throws IllegalStateException unless LOADING or BUILDING
     */
    default void finishBuild() {
        boolean complete = false;
        while (!complete) {
            complete = buildStep(BUILD_STEP_ROWS);
        }
    }

    /**
     * Queues a probe chunk, its results to be polled from {@code firstRow} on.
     *
     * @return false where the engine has no room; poll and try again
     * @throws IllegalStateException unless JOINING
     * @throws IllegalArgumentException where the schema is not the facts' own, or firstRow is not a
     *     row or the end of the chunk
     */
    boolean submitProbe(Chunk chunk, int firstRow);

    /**
     * The next results. Every probe chunk gives at least one batch, the last of which {@linkplain
     * ResultBatch#isLast() says so}, with no rows if there is nothing to say.
     *
     * @return null where nothing is ready: for a synchronous engine, where nothing is in flight or
     *     {@link #awaitsTake()}
     * @throws IllegalStateException unless JOINING
     */
    ResultBatch poll();

    /**
     * Whether an aggregating engine holds as many groups as it is to hold, and goes on only after
     * {@link #takeGroups()}.
     */
    boolean awaitsTake();

    /**
     * Takes the groups of all rows that were aggregated since the last call; they start anew.
     *
     * <p>Only with nothing in flight do the groups agree with a {@link #snapshot()}: chunks in
     * flight are in part in groups taken, in part still to come.
     *
     * @throws IllegalStateException unless JOINING and aggregating, with nothing in flight or where
     *     {@link #awaitsTake()}
     */
    GroupRows takeGroups();

    /** Probe chunks submitted whose last batch was not polled. */
    int inFlight();

    /**
     * Probe chunks whose last batch was not polled, with how far the polled batches completed them,
     * in order. The engine goes on undisturbed.
     */
    List<PendingProbe> snapshot();

    /**
     * Queues what a snapshot of another engine, of any kind, had pending: all of it, even where
     * that is more than {@link #submitProbe} would take.
     *
     * @throws IllegalStateException unless JOINING with nothing in flight
     * @throws IllegalArgumentException where a chunk's schema is not the facts' own; nothing is
     *     queued then
     */
    void restore(List<PendingProbe> pending);

    EngineStats stats();

    /** Gives all memory back. Legal in any state, and twice. */
    @Override
    void close();
}
