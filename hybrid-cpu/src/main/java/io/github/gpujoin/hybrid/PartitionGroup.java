// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

import io.github.gpujoin.core.engine.JoinEngine;
import org.jspecify.annotations.Nullable;

/**
 * Adjacent radix partitions whose tables are in one location. Not thread-safe.
 *
 * <p>A group moves between two probe chunks. Its new tables are built while the old engine still
 * joins. Then further chunks wait until the old engine has finished all submitted ones.
 */
final class PartitionGroup {

    private final int number;
    private final int firstPartition;
    private final int endPartition;
    private final long buildBytes;
    private TableLocation location = TableLocation.SPILLED;
    private @Nullable JoinEngine engine;
    private TableSize size = TableSize.NONE;

    /** Target of the current move. */
    private @Nullable TableLocation nextLocation;

    private @Nullable JoinEngine nextEngine;
    private TableSize nextSize = TableSize.NONE;

    /** Chunks that an engine of the group has received and not finished. */
    private int submittedCount;

    /** Deferred probe rows that are counted but not submitted yet. */
    private long announcedRows;

    /**
     * Whether no other engine can restart the chunks: the engine holds aggregation groups of
     * finished facts, or its groups were drained while it had chunks.
     */
    private boolean hasGroups;

    /** More than what was free in a tier, or on a member, when it had no room for the group. */
    private final long[] refusedBytes = new long[MemoryTier.values().length];

    /** More than what was free on the fullest member when all had no room for the group. */
    private long refusedEachBytes;

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

    TableLocation location() {
        return location;
    }

    MemoryTier tier() {
        return location.tier();
    }

    /** Returns the engine with the tables of the group; null if the group is SPILLED. */
    @Nullable JoinEngine engine() {
        return engine;
    }

    /** Returns the memory of its tables. */
    TableSize size() {
        return size;
    }

    /**
     * Estimates the size of one copy of its tables in a tier: the actual size in the current tier,
     * otherwise the estimate of the tier, and more than what was once too little.
     */
    long wholeBytesIn(TierEngines target) {
        return tier() == target.tier()
                ? size.wholeBytes()
                : Math.max(target.tableBytes(buildBytes), refusedBytes[target.tier().ordinal()]);
    }

    /** Estimates, in the same way, the size on each member if all of them probe its tables. */
    long eachBytesIn(TierEngines target) {
        return location.equals(TableLocation.DEVICE)
                ? size.eachBytes()
                : Math.max(target.eachBytes(wholeBytesIn(target)), refusedEachBytes);
    }

    /** Records that a location had no room for the group. */
    void recordRefusal(TableLocation target, long availableBytes) {
        long needed = Math.max(availableBytes, availableBytes + 1);
        if (target.equals(TableLocation.DEVICE)) {
            refusedEachBytes = needed;
        } else {
            refusedBytes[target.tier().ordinal()] = needed;
        }
    }

    // ------------------------------------------------------------------ moving

    /**
     * Sets the target of a move, which takes place once no chunk is submitted.
     *
     * @param engineThere with the new tables; null if the target is SPILLED
     * @param sizeThere of the new tables
     */
    void moveTo(TableLocation target, @Nullable JoinEngine engineThere, TableSize sizeThere) {
        nextLocation = location.to(target);
        nextEngine = engineThere;
        nextSize = sizeThere;
    }

    /** Sets the target of a move to SPILLED. */
    void spill() {
        moveTo(TableLocation.SPILLED, null, TableSize.NONE);
    }

    /** Cancels the move and closes its engine. */
    void stay() {
        if (nextEngine != null) {
            nextEngine.close();
        }
        nextEngine = null;
        nextLocation = null;
    }

    boolean isMoving() {
        return nextLocation != null;
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
        location = nextLocation;
        size = nextSize;
        nextEngine = null;
        nextLocation = null;
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
