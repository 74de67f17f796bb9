// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

import io.github.gpujoin.core.engine.EngineUnavailableException;
import io.github.gpujoin.core.engine.TableMemory;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Divides a build side into partition groups and builds their first tables, placed by build bytes.
 * Not thread-safe.
 */
final class FirstPlacement {

    /** Number of plans: table sizes become known while tables are built. */
    private static final int PLANS = 3;

    private final HybridOptions options;
    private final PartitionBuildBytes rows;
    private final TierEngines device;
    private final TierEngines host;
    private final PlacementDemand demand;
    private final PartitionGroupMover mover;
    private PartitionGroups division = PartitionGroups.NONE;

    /** Memory of the fastest tier that was free when the build side was divided. */
    private TableMemory freeAtDivision = TableMemory.ofOne(0);

    /** Whether the share of the device changed since the last step. */
    private boolean isShareNew;

    /** The current plan; null between plans. */
    private @Nullable List<TableLocation> plan;

    private int plansLeft;

    /** Groups in the order in which the current plan places them, and index of the next one. */
    private List<PartitionGroup> order = List.of();

    private int nextGroup;

    /** Target of that group; null if it is not known yet. */
    private @Nullable TableLocation target;

    /** Whether the current plan has moved a group. */
    private boolean hasMoved;

    FirstPlacement(
            HybridOptions options,
            PartitionBuildBytes rows,
            TierEngines device,
            TierEngines host,
            PlacementDemand demand,
            PartitionGroupMover mover) {
        this.options = options;
        this.rows = rows;
        this.device = device;
        this.host = host;
        this.demand = demand;
        this.mover = mover;
    }

    /** Returns the groups; another object after each division. */
    PartitionGroups division() {
        return division;
    }

    private List<PartitionGroup> groups() {
        return division.all();
    }

    /** The next step applies the share of the device to the groups. */
    void shareChanged() {
        isShareNew = true;
    }

    /**
     * Divides the build side or continues to build the tables of the groups.
     *
     * @param maxRows limit of the rows of a build step
     * @return whether each group has its tier
     */
    boolean step(long maxRows) {
        if (groups().isEmpty()) {
            freeAtDivision = demand.freeOfFastestTier();
            divide(groupCount());
        } else if (isShareNew) {
            applyShare();
        } else if (mover.isMoving()) {
            stepMove(maxRows);
        } else if (plan != null) {
            startMove();
        } else if (plansLeft > 0) {
            plansLeft--;
            startPlan();
        } else {
            makeRoomForSpilled();
            if (!isTooLargeForOneGroup() || partitionCount() == 1) {
                return true;
            }
            closeGroups();
            divide(PartitionGroupCount.roundUp(PartitionGroupCount.MIN_COUNT, partitionCount()));
        }
        return false;
    }

    /** Returns whether the only group has no tables, or the host has them instead of the device. */
    private boolean isTooLargeForOneGroup() {
        MemoryTier tier = groups().get(0).tier();
        return isOneGroup()
                && (!tier.hasTables()
                        || tier == MemoryTier.HOST && device.isOpen() && !hasFixedCount());
    }

    private int partitionCount() {
        return options.partitionCount();
    }

    private boolean isOneGroup() {
        return groups().size() == 1;
    }

    private boolean hasFixedCount() {
        return options.partitionGroupCount() > 0;
    }

    private int groupCount() {
        if (hasFixedCount()) {
            return Math.min(options.partitionGroupCount(), partitionCount());
        }
        return PartitionGroupCount.choose(
                TierEngines.peakBytes(rows.total()),
                demand.withinShare(freeAtDivision),
                partitionCount(),
                count -> TierEngines.peakBytes(PartitionGroups.largestBytes(rows, count)));
    }

    /**
     * Divides the build side again if another number of groups is better for the new share, with
     * the memory that was free before the first table was begun. Otherwise finished tables and the
     * current one stay.
     */
    private void applyShare() {
        isShareNew = false;
        if (!device.isOpen() || groupCount() == groups().size()) {
            plansLeft = Math.max(plansLeft, 1);
            return;
        }
        mover.cancel();
        plan = null;
        closeGroups();
    }

    private void closeGroups() {
        groups().forEach(PartitionGroup::close);
        division = PartitionGroups.NONE;
    }

    private void divide(int count) {
        division = PartitionGroups.divide(rows, options.firstPartition(), count);
        plansLeft = PLANS;
        isShareNew = false;
    }

    private void startPlan() {
        plan = PlacementPlanner.plan(demand.ofBuildBytes(groups()), demand.budgets(groups()));
        // An engine replicates tables that all members probe if memory is left for that.
        order =
                groups().stream()
                        .sorted(
                                Comparator.comparing(
                                        group -> device.isSpread(plan.get(group.number()))))
                        .toList();
        nextGroup = 0;
        target = null;
        hasMoved = false;
    }

    /**
     * Starts the next move of the plan or ends the plan. Another plan follows if a group has moved.
     */
    private void startMove() {
        for (; nextGroup < order.size(); nextGroup++, target = null) {
            PartitionGroup group = order.get(nextGroup);
            target = target == null ? plan.get(group.number()) : target;
            while (target.hasTables() && !group.tier().isAtLeast(target.tier())) {
                PartitionGroupMove move = mover.moveOf(group, target);
                if (!isWithinShare(group, target)) {
                    target = offDevice();
                } else if (!move.isPossible()) {
                    target = afterRefusal(group, target);
                } else {
                    mover.start(move);
                    return;
                }
            }
        }
        plan = null;
        boolean hasSpilled = groups().stream().anyMatch(group -> !group.tier().hasTables());
        plansLeft = hasMoved && hasSpilled ? plansLeft : 0;
    }

    /** Table sizes are better known than when the plan was made. */
    private boolean isWithinShare(PartitionGroup group, TableLocation target) {
        return target.tier() != MemoryTier.DEVICE || demand.isWithinShare(groups(), group, target);
    }

    private void stepMove(long maxRows) {
        try {
            mover.step(maxRows, 1);
        } catch (EngineUnavailableException e) {
            PartitionGroup group = mover.current().group();
            mover.abandon(e);
            target = afterRefusal(group, target);
            return;
        }
        if (!mover.current().isLoading()) {
            mover.finishIfPossible();
            hasMoved = true;
        }
    }

    /**
     * Returns where to try next. After a refusal, a group is expected to need more than what its
     * target had, so another member is tried only if it has more.
     */
    private TableLocation afterRefusal(PartitionGroup group, TableLocation refused) {
        if (refused.tier() == MemoryTier.HOST) {
            return TableLocation.SPILLED;
        }
        List<Long> members = device.memory().availableBytes();
        int roomiest = members.indexOf(Collections.max(members));
        if (device.memory().canPlace() && group.wholeBytesIn(device) <= members.get(roomiest)) {
            return TableLocation.placedOn(roomiest);
        }
        return offDevice();
    }

    /**
     * Returns where to place a group that does not fit the device. Most of a build side that does
     * not fit it as a whole fits it in groups, so that one group is not placed but divided.
     */
    private TableLocation offDevice() {
        boolean isDivisible = isOneGroup() && partitionCount() > 1 && !hasFixedCount();
        return device.isOpen() && isDivisible ? TableLocation.SPILLED : TableLocation.HOST;
    }

    /** Reserves host memory for the temporary tables of one partition. */
    private void makeRoomForSpilled() {
        for (int u = groups().size() - 1; u >= 0; u--) {
            boolean spills = groups().stream().anyMatch(group -> !group.tier().hasTables());
            if (!spills || host.availableBytes(TableLocation.HOST) >= demand.spillBytes()) {
                return;
            }
            PartitionGroup group = groups().get(u);
            if (group.tier() == MemoryTier.HOST) {
                mover.spill(group);
            }
        }
    }
}
