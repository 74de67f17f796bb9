// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

/**
 * The memory that holds the tables of a partition group.
 *
 * @param member of the device group that alone has the tables; {@value #ALL_MEMBERS} if all of them
 *     probe the tables, as those of a single device, and outside of devices
 */
public record TableLocation(MemoryTier tier, int member) {

    /** Stands for all members of a device group. */
    public static final int ALL_MEMBERS = -1;

    static final TableLocation DEVICE = new TableLocation(MemoryTier.DEVICE, ALL_MEMBERS);
    static final TableLocation HOST = new TableLocation(MemoryTier.HOST, ALL_MEMBERS);
    static final TableLocation SPILLED = new TableLocation(MemoryTier.SPILLED, ALL_MEMBERS);

    /** Returns the memory of one member of the device group. */
    static TableLocation placedOn(int member) {
        return new TableLocation(MemoryTier.DEVICE, member);
    }

    /** Returns whether one member of several has the tables. */
    public boolean isPlaced() {
        return member != ALL_MEMBERS;
    }

    boolean hasTables() {
        return tier.hasTables();
    }

    /**
     * Checks a move.
     *
     * @return {@code next}
     * @throws IllegalStateException if it is this location
     */
    TableLocation to(TableLocation next) {
        if (next.equals(this)) {
            throw new IllegalStateException("Partition group is already there: location=" + this);
        }
        return next;
    }
}
