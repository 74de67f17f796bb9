package io.github.gpujoin.hybrid;

/**
 * Where the tables of a unit stand, the fastest place first.
 *
 * <pre>
 *   SPILLED --- tables are made from the log ---> DEVICE, HOST
 *   DEVICE, HOST --- tables are dropped --------> SPILLED
 *   DEVICE &lt;-- made from the log, then swapped --> HOST
 * </pre>
 */
public enum Place {
    /** Within the accelerator's budget. */
    DEVICE,
    /** Within the host's budget. */
    HOST,
    /** Nowhere: rows are in the log only, and tables are made for as long as they are probed. */
    SPILLED;

    /** Whether tables stand here. */
    public boolean hasTables() {
        return this != SPILLED;
    }

    /** Whether this place is preferred to the other, or is the same. */
    boolean isAtLeast(Place other) {
        return compareTo(other) <= 0;
    }

    /** The next place to try where this one has no room. */
    Place slower() {
        return this == DEVICE ? HOST : SPILLED;
    }

    /**
     * The next place.
     *
     * @throws IllegalStateException where it is the same
     */
    Place to(Place next) {
        if (next == this) {
            throw new IllegalStateException("a unit moves to another place: place=" + this);
        }
        return next;
    }
}
