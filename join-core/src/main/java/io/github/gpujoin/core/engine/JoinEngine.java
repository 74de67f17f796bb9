// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.engine;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSlot;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Joins probe chunks with tables that it builds from build chunks.
 *
 * <p>An engine is {@link EngineState#LOADING} until the first {@link #buildStep}, {@link
 * EngineState#BUILDING} until the last one, and {@link EngineState#JOINING} until {@link #close()}.
 * An engine that replaces a failed device itself returns to BUILDING; {@link #poll} then does its
 * build steps and returns null. The tables are caches: the caller retains the build chunks and can
 * submit them again. Only one thread at a time may call an engine.
 *
 * <p>All engines return the same multiset of result rows for a probe chunk. They answer probe
 * chunks in the order of submission, and the rows of a chunk in order. An engine whose tables do
 * not fit memory may pass over a chunk several times, each time in that order; it then reports no
 * row complete before the last pass.
 *
 * <p>If the {@linkplain JoinSpec#isAggregating() join aggregates}, batches have no rows and report
 * only progress. {@link #drainGroups()} returns the groups.
 */
public interface JoinEngine extends AutoCloseable {

    JoinSpec spec();

    EngineState state();

    /**
     * Adds rows to the table of a dimension. Keys may repeat, within a chunk and across chunks.
     *
     * <p>If the dimension {@linkplain DimensionSpec#isChangelog() is a changelog}, its rows are
     * applied in order: by its {@link RowChange}, a row replaces or deletes the row of its key.
     * Such rows are also legal while JOINING, and affect the facts submitted after them.
     *
     * @throws IllegalStateException unless LOADING; for a changelog dimension, unless LOADING, or
     *     JOINING with nothing in flight
     * @throws IllegalArgumentException if there is no such dimension or the schema differs
     */
    void submitBuild(int dimension, Chunk chunk);

    /** Rows of a {@linkplain #buildStep step} that takes a few milliseconds on one core. */
    long BUILD_STEP_ROWS = 1 << 15;

    /**
     * Does the next part of the work that completes the tables, so that the caller can do other
     * work between steps. A table needs several passes over its rows. An engine that waits for a
     * device or for another thread returns after at most a millisecond.
     *
     * @param maxRows approximate number of rows to pass over, at least 1. Calls of a device driver
     *     or of the operating system are not divided.
     * @return whether the tables are complete and the engine is JOINING
     * @throws IllegalStateException unless LOADING or BUILDING
     */
    boolean buildStep(long maxRows);

    /**
     * Completes the tables in one call, which may take seconds.
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
     * Whether the engine verifies probe chunks in {@linkplain ChunkSlot slots} where it reads them,
     * so that the CPU need not read their payload.
     */
    default boolean verifiesSlots() {
        return false;
    }

    /**
     * Queues a probe chunk. The engine joins its rows from {@code firstRow} on. It reads a chunk in
     * a slot in place until the last batch of the chunk, which also refers to it; the caller
     * remains its user.
     *
     * @return false if the engine has no room; poll and try again
     * @throws IllegalStateException unless JOINING
     * @throws IllegalArgumentException if the schema is not that of the facts, or {@code firstRow}
     *     is outside 0 to the row count
     * @throws io.github.gpujoin.core.layout.ChunkFormatException if the chunk is in a slot that has
     *     not fully arrived, and the engine does not verify slots where it reads them
     */
    boolean submitProbe(Chunk chunk, int firstRow);

    /**
     * Returns the next results. Every probe chunk has at least one batch, possibly without rows;
     * {@link ResultBatch#isLast()} marks its last one.
     *
     * @return null if no results are ready. A synchronous engine returns null only if nothing is in
     *     flight or {@link #awaitsDrain()}.
     * @throws IllegalStateException unless JOINING
     */
    @Nullable ResultBatch poll();

    /**
     * Whether an aggregating engine reached its maximum number of groups and pauses until {@link
     * #drainGroups()}.
     */
    boolean awaitsDrain();

    /**
     * Returns the groups of all rows aggregated since the last call, and clears them.
     *
     * <p>The groups agree with a {@link #snapshot()} only if nothing is in flight. Otherwise an
     * in-flight chunk is partly in these groups and partly in later ones.
     *
     * @throws IllegalStateException unless JOINING and aggregating, with nothing in flight or
     *     {@link #awaitsDrain()}
     */
    GroupRows drainGroups();

    /** Returns the number of submitted probe chunks whose last batch was not polled. */
    int inFlightCount();

    /**
     * Returns the in-flight probe chunks in order, each with the rows that polled batches
     * completed. The engine continues unchanged.
     */
    List<InFlightProbe> snapshot();

    /**
     * Queues all probe chunks of a snapshot of any engine, even if they exceed what {@link
     * #submitProbe} would accept.
     *
     * @throws IllegalStateException unless JOINING with nothing in flight
     * @throws IllegalArgumentException if a chunk does not have the schema of the facts; nothing is
     *     queued then
     */
    void restore(List<InFlightProbe> pending);

    EngineStats stats();

    /** Frees all memory. Legal in any state; a second call has no effect. */
    @Override
    void close();
}
