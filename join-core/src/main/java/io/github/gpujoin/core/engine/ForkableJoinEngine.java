// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.engine;

/** An engine that shares its finished tables with other engines, each for a thread of its own. */
public interface ForkableJoinEngine extends JoinEngine {

    /**
     * Returns an engine on the finished tables of this one, with nothing in flight.
     *
     * <p>The engines may be closed in any order; the last close frees the tables. Threads may fork
     * concurrently as long as no thread closes this engine.
     *
     * @throws IllegalStateException unless JOINING
     */
    ForkableJoinEngine fork();

    /**
     * Returns a LOADING engine for the build chunks of one dimension, which shares the finished
     * tables of all other dimensions with this one. Its {@link #stats()} exclude the shared memory.
     * The rules of {@link #fork()} for memory and threads apply.
     *
     * @throws IllegalStateException unless JOINING
     * @throws EngineUnavailableException if there is no memory for it
     */
    ForkableJoinEngine forkLoading(int dimension);

    /**
     * Like {@link #forkLoading(int)}, but the table is on one member alone, whose facts no other
     * member joins. The tables of all other dimensions are those of the member.
     *
     * @param member index in {@link TableMemory#availableBytes()}
     * @throws IllegalStateException unless JOINING; if the engine has no members
     * @throws EngineUnavailableException if there is no memory for it
     */
    default ForkableJoinEngine forkLoading(int dimension, int member) {
        throw new IllegalStateException(
                "Engine cannot place a table on one member: dimension="
                        + dimension
                        + ", member="
                        + member);
    }

    /** Returns the memory that tables may still use. */
    TableMemory tableMemory();

    /**
     * Returns whether each member has a part of the table of a dimension; false until it is built.
     * Thread-safe.
     */
    default boolean isSharded(int dimension) {
        return false;
    }

    /**
     * Returns the bytes that all tables in the same memory may use within this engine's budget,
     * whether they are used or not; {@link Long#MAX_VALUE} without a known limit.
     */
    long capacityBytes();

    /**
     * Tells the engine what the subtasks of its process build, so that it can prepare for it. Has
     * no effect on results.
     *
     * @param share of the subtask whose facts this engine and its forks join
     */
    default void expect(BuildShare share) {}

    /**
     * Identifies the memory that holds the tables. Engines with equal values can share tables;
     * engines of another kind or device return another value. It is valid while the engine is open.
     */
    Object tableLocation();
}
