package io.github.gpujoin.hybrid;

import io.github.gpujoin.core.engine.JoinEngine;

/**
 * Some radix partitions next to each other, which stand in one place. Not thread-safe.
 *
 * <p>A unit moves between two probe chunks: the new tables are made while the old ones answer; from
 * then on chunks wait here until all those given to the old engine are answered.
 */
final class Unit {

    private final int number;
    private final int firstPartition;
    private final int endPartition;
    private final long buildBytes;
    private Place place = Place.SPILLED;
    private JoinEngine engine;
    private long tableBytes;

    /** Where the unit is about to be; null unless it moves. */
    private Place nextPlace;

    private JoinEngine nextEngine;

    /** Chunks that the engine in use, or a visit, has been given and has not answered. */
    private int submitted;

    /** Probe rows that are counted already, and will be submitted later. */
    private long announcedRows;

    /**
     * Whether no other engine can start over: the one in use holds groups of facts that are
     * answered, or gave groups away while it had chunks.
     */
    private boolean hasGroups;

    /** Room that a place had when it had none for the unit, by place. */
    private final long[] refusedBytes = new long[Place.values().length];

    Unit(int number, int firstPartition, int endPartition, long buildBytes) {
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

    Place place() {
        return place;
    }

    /** The engine with the unit's tables; null where it is SPILLED. */
    JoinEngine engine() {
        return engine;
    }

    /** Memory of its tables. */
    long tableBytes() {
        return tableBytes;
    }

    /**
     * What it would take of a place: what it takes there, what others do, and what is too little.
     */
    long bytesIn(PlaceEngines target) {
        if (place == target.place()) {
            return tableBytes;
        }
        return Math.max(target.tableBytes(buildBytes), refusedBytes[target.place().ordinal()]);
    }

    /** Takes note that there was no room. */
    void refusedBy(Place target, long availableBytes) {
        refusedBytes[target.ordinal()] = Math.max(availableBytes, availableBytes + 1);
    }

    // ------------------------------------------------------------------ moving

    /** Sets where the unit goes as soon as nothing is submitted. */
    void moveTo(Place target, JoinEngine engineThere) {
        nextPlace = place.to(target);
        nextEngine = engineThere;
    }

    /** Does not go after all. */
    void stay() {
        if (nextEngine != null) {
            nextEngine.close();
        }
        nextEngine = null;
        nextPlace = null;
    }

    boolean isMoving() {
        return nextPlace != null;
    }

    boolean canMove() {
        return isMoving() && submitted == 0;
    }

    /**
     * Goes there.
     *
     * @return the engine that is no longer in use, for the caller to close; null if there was none
     */
    JoinEngine move() {
        JoinEngine old = engine;
        engine = nextEngine;
        place = nextPlace;
        tableBytes = engine == null ? 0 : engine.stats().tableBytes();
        nextEngine = null;
        nextPlace = null;
        return old;
    }

    // ------------------------------------------------------------------ chunks

    void announce(long rows) {
        announcedRows += rows;
    }

    /** How many of the rows of a chunk that comes now were not announced. */
    long unannounced(long rows) {
        long announced = Math.min(announcedRows, rows);
        announcedRows -= announced;
        return rows - announced;
    }

    void submitted() {
        submitted++;
    }

    void answered() {
        submitted--;
    }

    boolean hasSubmitted() {
        return submitted > 0;
    }

    /** Forgets what was submitted to an engine that will not answer. */
    void withdrawn() {
        submitted = 0;
    }

    boolean hasGroups() {
        return hasGroups;
    }

    void setHasGroups(boolean hasGroups) {
        this.hasGroups = hasGroups;
    }

    /** Closes engines, in use and about to be. */
    void close() {
        try (JoinEngine inUse = engine;
                JoinEngine next = nextEngine) {
            engine = null;
            nextEngine = null;
        }
    }
}
