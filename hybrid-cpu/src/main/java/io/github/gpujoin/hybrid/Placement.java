// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

import io.github.gpujoin.core.engine.EngineUnavailableException;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.histogram.RunningHistogram;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The partition groups of a build side and the locations of their tables.
 *
 * <p>Groups are placed by build bytes first, see {@link FirstPlacement}. While probes arrive,
 * groups are placed again by their probes for each byte of table, one group at a time. Not
 * thread-safe.
 */
final class Placement implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(Placement.class);

    /** Number of plans while one window of rows is probed. */
    private static final int PLANS_IN_WINDOW = 4;

    private final HybridOptions options;
    private final TierEngines device;
    private final PartitionGroupMover mover;
    private final FirstPlacement first;
    private final ArrayDeque<PartitionGroupMove> planned = new ArrayDeque<>();
    private final PlacementDemand demand;
    private final MemberBalance balance;

    /** The division whose probes are counted. */
    private PartitionGroups observed = PartitionGroups.NONE;

    private RunningHistogram probes;

    /** Probes since the last plan, and those after which the next one is due. */
    private long rowsSincePlan;

    private long rowsOfPlan;

    /** Probes since the build side was divided. */
    private long probedRows;

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
        this.device = device;
        this.demand =
                new PlacementDemand(
                        rows, device, host, options.firstPartition() / options.partitionCount());
        this.mover =
                new PartitionGroupMover(
                        options.partitionedDimension(), log, device, host, onMoved, onDeviceLost);
        this.first = new FirstPlacement(options, rows, device, host, demand, mover);
    }

    List<PartitionGroup> groups() {
        return first.division().all();
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
        return first.division().ofPartition(partition);
    }

    /**
     * Continues the first placement: divides the build side and builds the tables of each group.
     *
     * @return whether each group has its tier
     */
    boolean placeStep(long maxRows) {
        boolean isPlaced = first.step(maxRows);
        if (observed != first.division() && !groups().isEmpty()) {
            observed = first.division();
            probes = new RunningHistogram(groups().size(), options.windowRows());
            probedRows = 0;
            rowsSincePlan = 0;
            rowsOfPlan = options.windowRows();
        }
        return isPlaced;
    }

    /**
     * Limits the memory of the device from the next step of the first placement on. After it,
     * groups are placed again at the next probe; a build side in one group stays where it is.
     */
    void setDeviceShare(DeviceShare share) {
        if (demand.setDeviceShare(share)) {
            first.shareChanged();
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
        if (groups().size() == 1 && group.tier().hasTables()) {
            return;
        }
        probes.add(group.number(), rows);
        probedRows += rows;
        rowsSincePlan += rows;
        if (rowsSincePlan >= rowsOfPlan && !mover.isMoving() && planned.isEmpty()) {
            planMoves();
            rowsSincePlan = 0;
            rowsOfPlan = Math.max(1, options.windowRows() / PLANS_IN_WINDOW);
        }
    }

    /** Stops using the device. Groups are placed again at the next probe. */
    void deviceLost(EngineUnavailableException e) {
        device.lose(e);
        planned.clear();
        PartitionGroupMove move = mover.current();
        if (move != null
                && (move.target().tier() == MemoryTier.DEVICE
                        || move.group().tier() == MemoryTier.DEVICE)) {
            mover.cancel();
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
                .map(group -> mover.moveOf(group, plan.get(group.number())))
                .sorted(
                        Comparator.comparingInt(Placement::tiersUp)
                                .thenComparing(move -> device.isSpread(move.target())))
                .forEach(planned::add);
        Optional<MemberBalance.Move> even = balance.observe(loads, device.memory(), rowsSincePlan);
        if (planned.isEmpty() && even.isPresent()) {
            MemberBalance.Move to = even.get();
            planned.add(
                    mover.moveOf(groups().get(to.group()), TableLocation.placedOn(to.member())));
        }
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
        PartitionGroupMove move = mover.current();
        if (move != null && move.isLoading() && move.target().tier() == MemoryTier.HOST) {
            mover.end().abandon();
            return true;
        }
        Optional<PartitionGroup> least =
                groups().stream()
                        .filter(group -> group.tier() == MemoryTier.HOST)
                        .filter(group -> !group.isMoving() && !group.hasSubmitted())
                        .min(Comparator.comparingDouble(group -> probes.share(group.number())));
        least.ifPresent(mover::spill);
        return least.isPresent();
    }

    /**
     * Continues the current move by about one chunk.
     *
     * <p>The owner also calls it when the old engine of a moving group has finished its chunks.
     */
    void step() {
        if (!mover.isMoving()) {
            PartitionGroupMove next = planned.poll();
            if (next == null || !next.isPossible()) {
                return;
            }
            mover.start(next);
        }
        PartitionGroup group = mover.current().group();
        try {
            stepTables();
        } catch (EngineUnavailableException e) {
            boolean hasToGo = tiersUp(mover.current()) < 0;
            if (group.tier() == MemoryTier.DEVICE) {
                balance.refused();
            }
            mover.abandon(e);
            if (!hasToGo) {
                return;
            }
            // If the slower tier has no room, the group is spilled.
            mover.start(mover.moveOf(group, TableLocation.SPILLED));
            stepTables();
        }
        TableLocation before = group.location();
        if (mover.finishIfPossible()) {
            LOG.info(
                    "Partition group moved: group={}, from={}, to={}, tableBytes={}",
                    group.number(),
                    before,
                    group.location(),
                    group.size().totalBytes());
        }
    }

    private void stepTables() {
        mover.step(JoinEngine.BUILD_STEP_ROWS, TableLoad.BUILD_STEPS);
    }

    @Override
    public void close() {
        planned.clear();
        mover.cancel();
        groups().forEach(PartitionGroup::close);
    }
}
