// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

import io.github.gpujoin.core.engine.EngineUnavailableException;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.TableMemory;
import io.github.gpujoin.core.histogram.RunningHistogram;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The partition groups of a build side and the locations of their tables.
 *
 * <p>Groups are placed by build bytes first. While probes arrive, groups are placed again by their
 * probes for each byte of table, one group at a time. Not thread-safe.
 */
final class Placement implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Placement.class);

    /** Number of plans of the first placement: table sizes become known during it. */
    private static final int FIRST_PLANS = 3;

    /** Number of plans while one window of rows is probed. */
    private static final int PLANS_IN_WINDOW = 4;

    private final HybridOptions options;
    private final PartitionBuildBytes rows;
    private final BuildChunks log;
    private final TierEngines device;
    private final TierEngines host;
    private final Consumer<PartitionGroup> onMoved;
    private final Consumer<EngineUnavailableException> onDeviceLost;
    private final ArrayDeque<PartitionGroupMove> planned = new ArrayDeque<>();
    private final PlacementDemand demand;
    private final MemberBalance balance;
    private PartitionGroups groups = PartitionGroups.NONE;
    private RunningHistogram probes;

    /** Probes since the last plan, and those after which the next one is due. */
    private long rowsSincePlan;

    private long rowsOfPlan;

    /** Probes since the build side was divided. */
    private long probedRows;

    /** Whether the share of the device changed since the last step of the first placement. */
    private boolean isShareNew;

    /** The current move. */
    private @Nullable PartitionGroupMove move;

    // State of the first placement.

    /** Memory of the fastest tier that was free when the build side was divided. */
    private TableMemory freeAtDivision = TableMemory.ofOne(0);

    /** The current plan of the first placement; null between plans. */
    private @Nullable List<TableLocation> firstPlan;

    private int plansLeft;

    /** Groups in the order in which the current plan places them, and index of the next one. */
    private List<PartitionGroup> firstOrder = List.of();

    private int nextGroup;

    /** Target of that group; null if it is not known yet. */
    private @Nullable TableLocation target;

    /** Whether the current plan has moved a group. */
    private boolean hasMoved;

    /**
     * @param factRowBytes bytes of a fact
     * @param onMoved called with a group as soon as it can {@linkplain PartitionGroup#move() move}
     * @param onDeviceLost receives the reason if the device fails, and must call {@link
     *     #deviceLost}
     */
    Placement(
            HybridOptions options,
            int factRowBytes,
            PartitionBuildBytes rows,
            BuildChunks log,
            TierEngines device,
            TierEngines host,
            Consumer<PartitionGroup> onMoved,
            Consumer<EngineUnavailableException> onDeviceLost) {
        this.options = options;
        this.balance = new MemberBalance(factRowBytes);
        this.rows = rows;
        this.log = log;
        this.device = device;
        this.host = host;
        this.demand =
                new PlacementDemand(
                        rows, device, host, options.firstPartition() / options.partitionCount());
        this.onMoved = onMoved;
        this.onDeviceLost = onDeviceLost;
    }

    List<PartitionGroup> groups() {
        return groups.all();
    }

    /** Returns the {@linkplain MemberBalance#skew() skew} of the members. Thread-safe. */
    double memberSkew() {
        return balance.skew();
    }

    /**
     * Returns the group of a partition.
     *
     * @param partition index relative to the first partition of this subtask
     */
    PartitionGroup groupOf(int partition) {
        return groups.ofPartition(partition);
    }

    // ------------------------------------------------------------------ first placement

    /**
     * Continues the first placement: divides the build side and builds the tables of each group.
     *
     * @return whether each group has its tier
     */
    boolean placeStep(long maxRows) {
        if (groups().isEmpty()) {
            freeAtDivision = demand.freeOfFastestTier();
            divide(groupCount());
        } else if (isShareNew) {
            applyShare();
        } else if (move != null) {
            stepFirstMove(maxRows);
        } else if (firstPlan != null) {
            startFirstMove();
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
        if (move != null) {
            endMove().cancel();
        }
        firstPlan = null;
        closeGroups();
    }

    private void closeGroups() {
        groups().forEach(PartitionGroup::close);
        groups = PartitionGroups.NONE;
    }

    private void divide(int count) {
        groups = PartitionGroups.divide(rows, options.firstPartition(), count);
        probes = new RunningHistogram(count, options.windowRows());
        probedRows = 0;
        rowsSincePlan = 0;
        rowsOfPlan = options.windowRows();
        plansLeft = FIRST_PLANS;
        isShareNew = false;
    }

    private void startPlan() {
        firstPlan = PlacementPlanner.plan(demand.ofBuildBytes(groups()), demand.budgets(groups()));
        // An engine replicates tables that all members probe if memory is left for that.
        firstOrder =
                groups().stream()
                        .sorted(Comparator.comparing(group -> isSpread(firstPlan, group)))
                        .toList();
        nextGroup = 0;
        target = null;
        hasMoved = false;
    }

    /**
     * Starts the next move of the plan or ends the plan. Another plan follows if a group has moved.
     */
    private void startFirstMove() {
        for (; nextGroup < firstOrder.size(); nextGroup++, target = null) {
            PartitionGroup group = firstOrder.get(nextGroup);
            target = target == null ? firstPlan.get(group.number()) : target;
            while (target.hasTables() && !group.tier().isAtLeast(target.tier())) {
                PartitionGroupMove first = moveOf(group, target);
                if (!isWithinShare(group, target)) {
                    target = offDevice();
                } else if (!first.isPossible()) {
                    target = afterRefusal(group, target);
                } else {
                    move = first;
                    return;
                }
            }
        }
        firstPlan = null;
        boolean hasSpilled = groups().stream().anyMatch(group -> !group.tier().hasTables());
        plansLeft = hasMoved && hasSpilled ? plansLeft : 0;
    }

    /** Table sizes are better known than when the plan was made. */
    private boolean isWithinShare(PartitionGroup group, TableLocation target) {
        return target.tier() != MemoryTier.DEVICE || demand.isWithinShare(groups(), group, target);
    }

    private void stepFirstMove(long maxRows) {
        try {
            move.step(options.partitionedDimension(), log, maxRows, 1);
        } catch (EngineUnavailableException e) {
            PartitionGroup group = move.group();
            abandonMove(e);
            target = afterRefusal(group, target);
            return;
        }
        if (!move.isLoading()) {
            finishIfPossible();
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
                spill(group);
            }
        }
    }

    /** Spills a group without submitted chunks at once. */
    private void spill(PartitionGroup group) {
        group.spill();
        onMoved.accept(group);
    }

    // ------------------------------------------------------------------ placement by probes

    /**
     * Limits the memory of the device from the next step of the first placement on. After it,
     * groups are placed again at the next probe; a build side in one group stays where it is.
     */
    void setDeviceShare(DeviceShare share) {
        if (demand.setDeviceShare(share)) {
            isShareNew = true;
            rowsOfPlan = 0;
        }
    }

    /** Counts submitted probes, except those announced before. */
    void probed(PartitionGroup group, long rows) {
        count(group, group.unannounced(rows));
    }

    /**
     * Counts deferred probes when they arrive, so that a later burst of one partition does not
     * change the placement.
     */
    void announceDeferred(PartitionGroup group, long rows) {
        group.announceDeferred(rows);
        count(group, rows);
    }

    /** Adds probes to the window, and plans moves at regular intervals. */
    private void count(PartitionGroup group, long rows) {
        if (isOneGroup() && group.tier().hasTables()) {
            return;
        }
        probes.add(group.number(), rows);
        probedRows += rows;
        rowsSincePlan += rows;
        if (rowsSincePlan >= rowsOfPlan && move == null && planned.isEmpty()) {
            planMoves();
            rowsSincePlan = 0;
            rowsOfPlan = Math.max(1, options.windowRows() / PLANS_IN_WINDOW);
        }
    }

    /** Stops using the device. Groups are placed again at the next probe. */
    void deviceLost(EngineUnavailableException e) {
        device.lose(e);
        planned.clear();
        if (move != null
                && (move.target().tier() == MemoryTier.DEVICE
                        || move.group().tier() == MemoryTier.DEVICE)) {
            endMove().cancel();
        }
        rowsOfPlan = 0;
    }

    /** Plans moves to slower tiers first and to faster ones last, since the first free memory. */
    private void planMoves() {
        // A few probes say less about the groups than their build bytes.
        List<PartitionGroupLoad> loads =
                probedRows < options.windowRows() / PLANS_IN_WINDOW
                        ? demand.ofBuildBytes(groups())
                        : demand.ofProbes(groups(), probes);
        List<TableLocation> plan = PlacementPlanner.plan(loads, demand.budgets(groups()));
        groups().stream()
                .filter(group -> !plan.get(group.number()).equals(group.location()))
                .map(group -> moveOf(group, plan.get(group.number())))
                .sorted(
                        Comparator.comparingInt(Placement::tiersUp)
                                .thenComparing(move -> isSpread(plan, move.group())))
                .forEach(planned::add);
        Optional<MemberBalance.Move> even = balance.observe(loads, device.memory(), rowsSincePlan);
        if (planned.isEmpty() && even.isPresent()) {
            MemberBalance.Move to = even.get();
            planned.add(moveOf(groups().get(to.group()), TableLocation.placedOn(to.member())));
        }
    }

    /** Returns whether a plan spreads a group over several members. */
    private boolean isSpread(List<TableLocation> plan, PartitionGroup group) {
        return device.memory().canPlace() && plan.get(group.number()).equals(TableLocation.DEVICE);
    }

    private static int tiersUp(PartitionGroupMove move) {
        return move.group().tier().ordinal() - move.target().tier().ordinal();
    }

    /**
     * Frees host memory: cancels tables under construction, or else spills the least probed group
     * without submitted chunks.
     *
     * @return whether memory will be freed
     */
    boolean makeRoomOnHost() {
        if (move != null && move.isLoading() && move.target().tier() == MemoryTier.HOST) {
            endMove().abandon();
            return true;
        }
        Optional<PartitionGroup> least =
                groups().stream()
                        .filter(group -> group.tier() == MemoryTier.HOST)
                        .filter(group -> !group.isMoving() && !group.hasSubmitted())
                        .min(Comparator.comparingDouble(group -> probes.share(group.number())));
        least.ifPresent(this::spill);
        return least.isPresent();
    }

    /**
     * Continues the current move by about one chunk.
     *
     * <p>The owner also calls it when the old engine of a moving group has finished its chunks.
     */
    void step() {
        if (move == null) {
            PartitionGroupMove next = planned.poll();
            if (next == null || !next.isPossible()) {
                return;
            }
            move = next;
        }
        try {
            stepTables();
        } catch (EngineUnavailableException e) {
            PartitionGroup group = move.group();
            boolean hasToGo = tiersUp(move) < 0;
            abandonMove(e);
            if (!hasToGo) {
                return;
            }
            // If the slower tier has no room, the group is spilled.
            move = moveOf(group, TableLocation.SPILLED);
            stepTables();
        }
        PartitionGroup group = move.group();
        TableLocation before = group.location();
        if (finishIfPossible()) {
            LOG.info(
                    "Partition group moved: group={}, from={}, to={}, tableBytes={}",
                    group.number(),
                    before,
                    group.location(),
                    group.size().totalBytes());
        }
    }

    private void stepTables() {
        move.step(
                options.partitionedDimension(),
                log,
                JoinEngine.BUILD_STEP_ROWS,
                TableLoad.BUILD_STEPS);
    }

    /** Returns whether the current move is done. */
    private boolean finishIfPossible() {
        boolean isDone = move.finish();
        if (isDone) {
            onMoved.accept(endMove().group());
        }
        return isDone;
    }

    /** Ends the current move after its target refused the tables. */
    private void abandonMove(EngineUnavailableException e) {
        PartitionGroupMove refused = endMove();
        refused.abandon();
        if (refused.group().tier() == MemoryTier.DEVICE) {
            balance.refused();
        }
        if (e.scope() == EngineUnavailableException.Scope.DEVICE) {
            if (refused.target().tier() == MemoryTier.HOST) {
                throw e;
            }
            onDeviceLost.accept(e);
        }
    }

    /** Clears the current move and returns it. */
    private PartitionGroupMove endMove() {
        PartitionGroupMove ended = move;
        move = null;
        return ended;
    }

    private PartitionGroupMove moveOf(PartitionGroup group, TableLocation target) {
        return new PartitionGroupMove(
                group,
                target,
                switch (target.tier()) {
                    case DEVICE -> device;
                    case HOST -> host;
                    case SPILLED -> null;
                });
    }

    @Override
    public void close() {
        planned.clear();
        if (move != null) {
            endMove().cancel();
        }
        groups().forEach(PartitionGroup::close);
    }
}
