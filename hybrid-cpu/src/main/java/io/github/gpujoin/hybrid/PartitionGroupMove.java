// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

import io.github.gpujoin.core.engine.JoinEngine;
import org.jspecify.annotations.Nullable;

/**
 * A move of a partition group to another location. Not thread-safe.
 *
 * <pre>
 *   LOADING --- tables are complete, or none are needed ---> WAITING
 *   WAITING --- the old engine has finished all chunks ----> DONE
 *   LOADING, WAITING --- cancelled or refused -------------> DONE
 * </pre>
 */
final class PartitionGroupMove {

    private enum State {
        LOADING,
        WAITING,
        DONE;

        State to(State next) {
            if (next.compareTo(this) <= 0) {
                throw new IllegalStateException(
                        "Move of a partition group cannot return to an earlier state: state="
                                + this
                                + ", next="
                                + next);
            }
            return next;
        }
    }

    private final PartitionGroup group;
    private final TableLocation target;
    private final @Nullable TierEngines engines;
    private State state = State.LOADING;

    /** Null before the first step and after the last chunk. */
    private @Nullable TableLoad load;

    /**
     * @param engines of the target; null if it is SPILLED
     */
    PartitionGroupMove(PartitionGroup group, TableLocation target, @Nullable TierEngines engines) {
        this.group = group;
        this.target = target;
        this.engines = engines;
    }

    PartitionGroup group() {
        return group;
    }

    TableLocation target() {
        return target;
    }

    boolean isLoading() {
        return state == State.LOADING;
    }

    /** Returns whether the group is not at the target yet and the target is usable. */
    boolean isPossible() {
        return !group.location().equals(target) && (engines == null || engines.isOpen());
    }

    /**
     * Continues to build the new tables, by about one chunk.
     *
     * @param maxRows limit of the rows of a build step
     * @param buildSteps limit of the build steps
     * @throws io.github.gpujoin.core.engine.EngineUnavailableException if the target has no room;
     *     the caller then calls {@link #abandon()}
     */
    void step(int dimension, BuildChunks log, long maxRows, int buildSteps) {
        if (!isLoading()) {
            return;
        }
        if (engines == null) {
            state = state.to(State.WAITING);
            group.spill();
        } else if (load == null) {
            load =
                    new TableLoad(
                            engines.newEngine(dimension, target),
                            dimension,
                            log.ofPartitions(group.firstPartition(), group.endPartition()));
        } else if (load.step(maxRows, buildSteps)) {
            state = state.to(State.WAITING);
            JoinEngine engine = load.detachEngine();
            load = null;
            TableSize size = engines.sizeOf(engine, dimension, target);
            group.moveTo(target, engine, size);
            engines.recordTableBytes(size.wholeBytes(), group.buildBytes());
        }
    }

    /**
     * Ends the move if the group can {@linkplain PartitionGroup#move() move}; the caller then moves
     * it.
     *
     * @return whether it can
     */
    boolean finish() {
        boolean finished = state == State.WAITING && group.canMove();
        if (finished) {
            state = state.to(State.DONE);
        }
        return finished;
    }

    /** Cancels the move and records how much memory the target had. */
    void abandon() {
        cancel();
        group.recordRefusal(target, engines.availableBytes(target));
    }

    /** Cancels the move; the group stays where it is. */
    void cancel() {
        state = state.to(State.DONE);
        if (load != null) {
            load.close();
            load = null;
        }
        group.stay();
    }
}
