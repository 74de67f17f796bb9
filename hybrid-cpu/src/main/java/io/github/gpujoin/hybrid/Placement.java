// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

import io.github.gpujoin.core.engine.EngineUnavailableException;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.histogram.RunningHistogram;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The partition groups of a build side and their memory tiers.
 *
 * <p>Groups are placed by build bytes first. While probes arrive, groups are placed again by their
 * probes for each byte of table, one group at a time. Not thread-safe.
 */
final class Placement implements AutoCloseable {

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
    private List<PartitionGroup> groups = List.of();
    private int[] groupOfPartition;
    private RunningHistogram probes;
    private long probedRows;
    private long rowsUntilPlan;

    private DeviceShare deviceShare = DeviceShare.WHOLE;

    /** Whether the share changed since the last step of the first placement. */
    private boolean isShareNew;

    /** The current move. */
    private @Nullable PartitionGroupMove move;

    // State of the first placement.

    /** The current plan of the first placement; null between plans. */
    private @Nullable List<MemoryTier> firstPlan;

    private int plansLeft;

    /** Index of the group that the current plan places next. */
    private int nextGroup;

    /** Target tier of that group; null if it is not known yet. */
    private @Nullable MemoryTier target;

    /** Whether the current plan has moved a group. */
    private boolean hasMoved;

    /**
     * @param onMoved called with a group as soon as it can {@linkplain PartitionGroup#move() move}
     * @param onDeviceLost receives the reason if the device fails, and must call {@link
     *     #deviceLost}
     */
    Placement(
            HybridOptions options,
            PartitionBuildBytes rows,
            BuildChunks log,
            TierEngines device,
            TierEngines host,
            Consumer<PartitionGroup> onMoved,
            Consumer<EngineUnavailableException> onDeviceLost) {
        this.options = options;
        this.rows = rows;
        this.log = log;
        this.device = device;
        this.host = host;
        this.onMoved = onMoved;
        this.onDeviceLost = onDeviceLost;
    }

    List<PartitionGroup> groups() {
        return groups;
    }

    /**
     * Returns the group of a partition.
     *
     * @param partition index relative to the first partition of this subtask
     */
    PartitionGroup groupOf(int partition) {
        return groups.get(groupOfPartition[partition]);
    }

    // ------------------------------------------------------------------ first placement

    /**
     * Continues the first placement: divides the build side and builds the tables of each group.
     *
     * @return whether each group has its tier
     */
    boolean placeStep(long maxRows) {
        if (groups.isEmpty()) {
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
        MemoryTier tier = groups.get(0).tier();
        return groups.size() == 1
                && (!tier.hasTables()
                        || tier == MemoryTier.HOST
                                && device.isOpen()
                                && options.partitionGroupCount() == 0);
    }

    private int partitionCount() {
        return options.partitionCount();
    }

    private int groupCount() {
        if (options.partitionGroupCount() > 0) {
            return Math.min(options.partitionGroupCount(), partitionCount());
        }
        TierEngines fastest = device.isOpen() ? device : host;
        return PartitionGroupCount.choose(
                TierEngines.peakBytes(rows.total()), budget(fastest), partitionCount());
    }

    /** Divides the build side again if another number of groups is better for the new share. */
    private void applyShare() {
        isShareNew = false;
        if (groupCount() == groups.size()) {
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
        groups.forEach(PartitionGroup::close);
        groups = List.of();
    }

    private void divide(int count) {
        List<PartitionGroup> divided = new ArrayList<>();
        groupOfPartition = new int[partitionCount()];
        for (int u = 0; u < count; u++) {
            int first = (int) ((long) partitionCount() * u / count);
            int end = (int) ((long) partitionCount() * (u + 1) / count);
            int base = options.firstPartition();
            divided.add(new PartitionGroup(u, base + first, base + end, rows.bytes(first, end)));
            for (int p = first; p < end; p++) {
                groupOfPartition[p] = u;
            }
        }
        groups = List.copyOf(divided);
        probes = new RunningHistogram(count, options.windowRows());
        rowsUntilPlan = options.windowRows();
        plansLeft = FIRST_PLANS;
        isShareNew = false;
    }

    private void startPlan() {
        firstPlan = plan(true);
        nextGroup = 0;
        target = null;
        hasMoved = false;
    }

    /**
     * Starts the next move of the plan or ends the plan. Another plan follows if a group has moved.
     */
    private void startFirstMove() {
        for (; nextGroup < groups.size(); nextGroup++, target = null) {
            PartitionGroup group = groups.get(nextGroup);
            target = target == null ? firstPlan.get(nextGroup) : target;
            for (;
                    target.hasTables() && !group.tier().isAtLeast(target);
                    target = target.slower()) {
                PartitionGroupMove first = moveOf(group, target);
                if (first.isPossible() && isWithinShare(group, target)) {
                    move = first;
                    return;
                }
            }
        }
        firstPlan = null;
        boolean hasSpilled = groups.stream().anyMatch(group -> !group.tier().hasTables());
        plansLeft = hasMoved && hasSpilled ? plansLeft : 0;
    }

    /** Table sizes are better known than when the plan was made. */
    private boolean isWithinShare(PartitionGroup group, MemoryTier target) {
        return target != MemoryTier.DEVICE
                || tableBytesIn(MemoryTier.DEVICE) + group.bytesIn(device)
                        <= deviceShare.limitBytes(device.capacityBytes());
    }

    private void stepFirstMove(long maxRows) {
        try {
            move.step(options.partitionedDimension(), log, maxRows, 1);
        } catch (EngineUnavailableException e) {
            abandonMove(e);
            target = target.slower();
            return;
        }
        if (!move.isLoading()) {
            finishIfPossible();
            hasMoved = true;
        }
    }

    /** Reserves host memory for the temporary tables of one partition. */
    private void makeRoomForSpilled() {
        for (int u = groups.size() - 1; u >= 0; u--) {
            boolean spills = groups.stream().anyMatch(group -> !group.tier().hasTables());
            if (!spills || host.availableBytes() >= spillBytes()) {
                return;
            }
            PartitionGroup group = groups.get(u);
            if (group.tier() == MemoryTier.HOST) {
                spill(group);
            }
        }
    }

    /** Spills a group without submitted chunks at once. */
    private void spill(PartitionGroup group) {
        group.moveTo(MemoryTier.SPILLED, null);
        onMoved.accept(group);
    }

    private long spillBytes() {
        return TierEngines.peakBytes(rows.largest());
    }

    // ------------------------------------------------------------------ placement by probes

    private List<MemoryTier> plan(boolean byBuildBytes) {
        long allBytes = Math.max(1, rows.total());
        List<PartitionGroupLoad> loads = new ArrayList<>();
        for (PartitionGroup group : groups) {
            double share =
                    byBuildBytes
                            ? (double) group.buildBytes() / allBytes
                            : probes.share(group.number());
            loads.add(
                    new PartitionGroupLoad(
                            group.bytesIn(device), group.bytesIn(host), share, group.tier()));
        }
        return PlacementPlanner.plan(
                loads, new PlacementPlanner.Budgets(budget(device), budget(host), spillBytes()));
    }

    /**
     * Limits the memory of the device from the next step of the first placement on. After it,
     * groups are placed again at the next probe; a build side in one group stays where it is.
     */
    void setDeviceShare(DeviceShare share) {
        deviceShare = share;
        isShareNew = true;
        rowsUntilPlan = 0;
    }

    /**
     * Returns the free memory of a tier plus the memory of its groups, within the share of this
     * subtask; -1 if the tier is unusable.
     */
    private long budget(TierEngines tier) {
        if (!tier.isOpen()) {
            return -1;
        }
        long free = tier.availableBytes();
        long freed = tableBytesIn(tier.tier());
        long all = free > Long.MAX_VALUE - freed ? Long.MAX_VALUE : free + freed;
        return tier == device ? Math.min(all, deviceShare.limitBytes(device.capacityBytes())) : all;
    }

    private long tableBytesIn(MemoryTier tier) {
        return groups.stream()
                .filter(group -> group.tier() == tier)
                .mapToLong(PartitionGroup::tableBytes)
                .sum();
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
        if (groups.size() == 1 && group.tier().hasTables()) {
            return;
        }
        probes.add(group.number(), rows);
        probedRows += rows;
        rowsUntilPlan -= rows;
        if (rowsUntilPlan <= 0 && move == null && planned.isEmpty()) {
            rowsUntilPlan = Math.max(1, options.windowRows() / PLANS_IN_WINDOW);
            planMoves();
        }
    }

    /** Stops using the device. Groups are placed again at the next probe. */
    void deviceLost(EngineUnavailableException e) {
        device.lose(e);
        planned.clear();
        if (move != null
                && (move.target() == MemoryTier.DEVICE
                        || move.group().tier() == MemoryTier.DEVICE)) {
            endMove().cancel();
        }
        rowsUntilPlan = 0;
    }

    /** Plans moves to slower tiers first, since they free memory. */
    private void planMoves() {
        // A few probes say less about the groups than their build bytes.
        List<MemoryTier> plan = plan(probedRows < options.windowRows() / PLANS_IN_WINDOW);
        for (PartitionGroup group : groups) {
            MemoryTier target = plan.get(group.number());
            if (target != group.tier()) {
                PartitionGroupMove next = moveOf(group, target);
                if (group.tier().isAtLeast(target)) {
                    planned.addFirst(next);
                } else {
                    planned.addLast(next);
                }
            }
        }
    }

    /**
     * Frees host memory: cancels tables under construction, or else spills the least probed group
     * without submitted chunks.
     *
     * @return whether memory will be freed
     */
    boolean makeRoomOnHost() {
        if (move != null && move.isLoading() && move.target() == MemoryTier.HOST) {
            endMove().abandon();
            return true;
        }
        Optional<PartitionGroup> least =
                groups.stream()
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
            boolean hasToGo = group.tier().isAtLeast(move.target());
            abandonMove(e);
            if (!hasToGo) {
                return;
            }
            // If the slower tier has no room, the group is spilled.
            move = moveOf(group, MemoryTier.SPILLED);
            stepTables();
        }
        finishIfPossible();
    }

    private void stepTables() {
        move.step(
                options.partitionedDimension(),
                log,
                JoinEngine.BUILD_STEP_ROWS,
                TableLoad.BUILD_STEPS);
    }

    private void finishIfPossible() {
        if (move.finish()) {
            onMoved.accept(endMove().group());
        }
    }

    /** Ends the current move after its target refused the tables. */
    private void abandonMove(EngineUnavailableException e) {
        PartitionGroupMove refused = endMove();
        refused.abandon();
        if (e.scope() == EngineUnavailableException.Scope.DEVICE) {
            if (refused.target() == MemoryTier.HOST) {
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

    private PartitionGroupMove moveOf(PartitionGroup group, MemoryTier target) {
        return new PartitionGroupMove(
                group,
                target,
                switch (target) {
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
        groups.forEach(PartitionGroup::close);
    }
}
