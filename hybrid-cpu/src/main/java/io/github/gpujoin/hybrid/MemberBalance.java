// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

import io.github.gpujoin.core.engine.TableMemory;
import java.util.List;
import java.util.Optional;
import java.util.stream.DoubleStream;

/**
 * Decides when a partition group moves to another member of a device group, because its member has
 * more probes than the others.
 *
 * <p>The busiest member delays a join by its probes above the mean of all members. A move costs as
 * much as the facts that justify building tables ({@link SpillCost}). A group moves once the facts
 * that its move would have spared the busiest member, since the last move, have cost as much. So
 * waiting and moving together cost at most twice the better choice in hindsight. Not thread-safe,
 * except for {@link #skew()}.
 */
final class MemberBalance {

    /** Skew up to which members count as even, since probes of short intervals vary by chance. */
    static final double EVEN = 1.1;

    /** A move of a group, by its index, to a member. */
    record Move(int group, int member) {}

    private final int factRowBytes;

    /** Facts that the busiest member joined above the mean since the last move. */
    private double excessRows;

    /**
     * Cost of a move against that of its build: doubles with each refusal, since the build of a
     * table needs more memory than the table, and often there is never enough.
     */
    private double costFactor = 1;

    private volatile double skew = 1;

    /**
     * @param factRowBytes bytes of a fact
     */
    MemberBalance(int factRowBytes) {
        this.factRowBytes = factRowBytes;
    }

    /**
     * Returns the probes of the busiest member against the mean of all members, at least 1; 1 if no
     * table is on one member alone. Thread-safe.
     */
    double skew() {
        return skew;
    }

    /**
     * Counts the probes of an interval.
     *
     * @param groups with their shares of the probes
     * @param free memory that is left on each member
     * @param rows probes of the interval
     * @return the move that is worth its cost, if there is one
     */
    Optional<Move> observe(List<PartitionGroupLoad> groups, TableMemory free, long rows) {
        double[] shares = shares(groups, free.memberCount());
        double mean = DoubleStream.of(shares).sum() / shares.length;
        int busiest = busiest(shares);
        skew = mean == 0 ? 1 : shares[busiest] / mean;
        if (skew <= EVEN) {
            excessRows = 0;
            costFactor = 1;
            return Optional.empty();
        }
        double excess = shares[busiest] - mean;
        excessRows += excess * rows;
        Move best = null;
        double mostSpared = 0;
        for (int u = 0; u < groups.size(); u++) {
            PartitionGroupLoad group = groups.get(u);
            if (!group.location().equals(TableLocation.placedOn(busiest))) {
                continue;
            }
            for (int member = 0; member < shares.length; member++) {
                double spared = shares[busiest] - largestAfter(shares, group, busiest, member);
                boolean hasRoom = group.deviceBytes() <= free.availableBytes().get(member);
                if (member != busiest && hasRoom && spared > mostSpared) {
                    mostSpared = spared;
                    best = new Move(u, member);
                }
            }
        }
        if (best == null) {
            return Optional.empty();
        }
        double cost = costFactor * rowsWorth(groups.get(best.group));
        if (excessRows * mostSpared / excess < cost) {
            return Optional.empty();
        }
        excessRows = 0;
        return Optional.of(best);
    }

    /** Records that a member had no memory for a move between members. */
    void refused() {
        costFactor *= 2;
    }

    private static double[] shares(List<PartitionGroupLoad> groups, int memberCount) {
        double[] shares = new double[memberCount];
        for (PartitionGroupLoad group : groups) {
            if (group.location().isPlaced()) {
                shares[group.location().member()] += group.probeShare();
            } else if (group.tier() == MemoryTier.DEVICE) {
                for (int member = 0; member < memberCount; member++) {
                    shares[member] += group.probeShare() / memberCount;
                }
            }
        }
        return shares;
    }

    private static int busiest(double[] shares) {
        int busiest = 0;
        for (int member = 1; member < shares.length; member++) {
            busiest = shares[member] > shares[busiest] ? member : busiest;
        }
        return busiest;
    }

    /** Returns the largest share of a member after a group has moved. */
    private static double largestAfter(
            double[] shares, PartitionGroupLoad group, int from, int to) {
        double largest = 0;
        for (int member = 0; member < shares.length; member++) {
            double moved = member == to ? group.probeShare() : 0;
            moved -= member == from ? group.probeShare() : 0;
            largest = Math.max(largest, shares[member] + moved);
        }
        return largest;
    }

    /** Returns the facts that cost as much as a move. */
    private double rowsWorth(PartitionGroupLoad group) {
        return (double) SpillCost.worthwhileFactBytes(group.deviceBytes()) / factRowBytes;
    }
}
