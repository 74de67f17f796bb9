// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

import io.github.gpujoin.core.engine.EngineUnavailableException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Moves one partition group at a time to another location. Not thread-safe. */
final class PartitionGroupMover {

    private final int dimension;
    private final BuildChunks log;
    private final TierEngines device;
    private final TierEngines host;
    private final Consumer<PartitionGroup> onMoved;
    private final Consumer<EngineUnavailableException> onDeviceLost;
    private @Nullable PartitionGroupMove current;

    /**
     * @param dimension the partitioned one
     * @param onMoved called with a group as soon as it can {@linkplain PartitionGroup#move() move}
     * @param onDeviceLost receives the reason if the device fails
     */
    PartitionGroupMover(
            int dimension,
            BuildChunks log,
            TierEngines device,
            TierEngines host,
            Consumer<PartitionGroup> onMoved,
            Consumer<EngineUnavailableException> onDeviceLost) {
        this.dimension = dimension;
        this.log = log;
        this.device = device;
        this.host = host;
        this.onMoved = onMoved;
        this.onDeviceLost = onDeviceLost;
    }

    /** Returns a move that is not started. */
    PartitionGroupMove moveOf(PartitionGroup group, TableLocation target) {
        return new PartitionGroupMove(
                group,
                target,
                switch (target.tier()) {
                    case DEVICE -> device;
                    case HOST -> host;
                    case SPILLED -> null;
                });
    }

    boolean isMoving() {
        return current != null;
    }

    /** Returns the current move; null if no group moves. */
    @Nullable PartitionGroupMove current() {
        return current;
    }

    /** Starts a move; there is no current one. */
    void start(PartitionGroupMove move) {
        current = move;
    }

    /**
     * Continues the current move by about one chunk.
     *
     * @param maxRows limit of the rows of a build step
     * @param buildSteps limit of the build steps
     * @throws EngineUnavailableException if the target has no room; the caller then calls {@link
     *     #abandon}
     */
    void step(long maxRows, int buildSteps) {
        current.step(dimension, log, maxRows, buildSteps);
    }

    /** Returns whether the current move is done. */
    boolean finishIfPossible() {
        boolean isDone = current.finish();
        if (isDone) {
            onMoved.accept(end().group());
        }
        return isDone;
    }

    /** Ends the current move after its target refused the tables. */
    void abandon(EngineUnavailableException e) {
        PartitionGroupMove refused = end();
        refused.abandon();
        if (e.scope() == EngineUnavailableException.Scope.DEVICE) {
            if (refused.target().tier() == MemoryTier.HOST) {
                throw e;
            }
            onDeviceLost.accept(e);
        }
    }

    /** Cancels the current move, if there is one. */
    void cancel() {
        if (current != null) {
            end().cancel();
        }
    }

    /** Clears the current move and returns it. */
    PartitionGroupMove end() {
        PartitionGroupMove ended = current;
        current = null;
        return ended;
    }

    /** Spills a group without submitted chunks at once. */
    void spill(PartitionGroup group) {
        group.spill();
        onMoved.accept(group);
    }
}
