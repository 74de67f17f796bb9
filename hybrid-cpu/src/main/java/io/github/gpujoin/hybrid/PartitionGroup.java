// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

import io.github.gpujoin.core.engine.JoinEngine;
import org.jspecify.annotations.Nullable;

/**
 * Adjacent radix partitions that are placed together in one memory tier. Not thread-safe.
 *
 * <p>A group moves between two probe chunks. Its new tables are built while the old engine still
 * joins. Then further chunks wait until the old engine has finished all submitted ones.
 */
final class PartitionGroup {

    private final int number;
    private final int firstPartition;
    private final int endPartition;
    private final long buildBytes;
    private MemoryTier tier = MemoryTier.SPILLED;
    private @Nullable JoinEngine engine;
    private long tableBytes;

    /** Target of the current move. */
    private @Nullable MemoryTier nextTier;

    private @Nullable JoinEngine nextEngine;

    /** Chunks that an engine of the group has received and not finished. */
    private int submittedCount;

    /** Deferred probe rows that are counted but not submitted yet. */
    private long announcedRows;

    /**
     * Whether no other engine can restart the chunks: the engine holds aggregation groups of
     * finished facts, or its groups were drained while it had chunks.
     */
    private boolean hasGroups;

    /** Memory that was free in each tier when it had no room for the group. */
    private final long[] refusedBytes = new long[MemoryTier.values().length];

    PartitionGroup(int number, int firstPartition, int endPartition, long buildBytes) {
        this.number = number;
        this.firstPartition = firstPartition;
        this.endPartition = endPartition;
        this.buildBytes = buildBytes;
    }

    int number() {
        return number;
    }

    int firstPartition() {
        return firstPartition;
    }

    int endPartition() {
        return endPartition;
    }

    long buildBytes() {
        return buildBytes;
    }

    MemoryTier tier() {
        return tier;
    }

    /** Returns the engine with the tables of the group; null if the group is SPILLED. */
    @Nullable JoinEngine engine() {
        return engine;
    }

    /** Returns the memory of its tables. */
    long tableBytes() {
        return tableBytes;
    }

    /**
     * Estimates the table size in a tier: the actual size in the current tier, otherwise the
     * estimate of the tier, and more than what was once too little.
     */
    long bytesIn(TierEngines target) {
        if (tier == target.tier()) {
            return tableBytes;
        }
        return Math.max(target.tableBytes(buildBytes), refusedBytes[target.tier().ordinal()]);
    }

    /** Records that a tier had no room for the group. */
    void recordRefusal(MemoryTier target, long availableBytes) {
        refusedBytes[target.ordinal()] = Math.max(availableBytes, availableBytes + 1);
    }

    // ------------------------------------------------------------------ moving

    /**
     * Sets the target of a move, which takes place once no chunk is submitted.
     *
     * @param engineThere with the new tables; null if the target is SPILLED
     */
    void moveTo(MemoryTier target, @Nullable JoinEngine engineThere) {
        nextTier = tier.to(target);
        nextEngine = engineThere;
    }

    /** Cancels the move and closes its engine. */
    void stay() {
        if (nextEngine != null) {
            nextEngine.close();
        }
        nextEngine = null;
        nextTier = null;
    }

    boolean isMoving() {
        return nextTier != null;
    }

    boolean canMove() {
        return isMoving() && submittedCount == 0;
    }

    /**
     * Carries out the move.
     *
     * @return the previous engine, which the caller closes; null if the group was SPILLED
     */
    @Nullable JoinEngine move() {
        JoinEngine old = engine;
        engine = nextEngine;
        tier = nextTier;
        tableBytes = engine == null ? 0 : engine.stats().tableBytes();
        nextEngine = null;
        nextTier = null;
        return old;
    }

    // ------------------------------------------------------------------ chunks

    void announceDeferred(long rows) {
        announcedRows += rows;
    }

    /**
     * Returns how many of these probe rows were not announced before, and consumes the
     * announcement.
     */
    long unannounced(long rows) {
        long announced = Math.min(announcedRows, rows);
        announcedRows -= announced;
        return rows - announced;
    }

    void addSubmitted() {
        submittedCount++;
    }

    void removeSubmitted() {
        submittedCount--;
    }

    boolean hasSubmitted() {
        return submittedCount > 0;
    }

    /** Forgets chunks submitted to an engine that has failed. */
    void clearSubmitted() {
        submittedCount = 0;
    }

    boolean hasGroups() {
        return hasGroups;
    }

    void setHasGroups(boolean hasGroups) {
        this.hasGroups = hasGroups;
    }

    /** Closes the current engine and that of a move. */
    void close() {
        try (JoinEngine inUse = engine;
                JoinEngine next = nextEngine) {
            engine = null;
            nextEngine = null;
        }
    }
}
