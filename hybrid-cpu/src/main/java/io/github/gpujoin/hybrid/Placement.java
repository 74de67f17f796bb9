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

/**
 * The units of a build side and where they stand: placed once by their bytes, then again by the
 * probes that each byte of them gets, one unit at a time, while probing goes on. Not thread-safe.
 */
final class Placement implements AutoCloseable {

    /** Plans for the first placement, as what tables take becomes known. */
    private static final int FIRST_PLANS = 3;

    /** How often a unit is placed anew while as many rows are probed as the window has. */
    private static final int PLANS_IN_WINDOW = 4;

    private final HybridOptions options;
    private final PartitionedRows rows;
    private final BuildChunks log;
    private final PlaceEngines device;
    private final PlaceEngines host;
    private final Consumer<Unit> onMoved;
    private final Consumer<EngineUnavailableException> onDeviceLost;
    private final ArrayDeque<UnitMove> planned = new ArrayDeque<>();
    private List<Unit> units = List.of();
    private int[] unitOfPartition;
    private RunningHistogram probes;
    private long rowsUntilPlan;

    /** Under way; null where none is. */
    private UnitMove move;

    // of the first placement

    /** In work; null between plans. */
    private List<Place> firstPlan;

    private int plansLeft;

    /** Unit that the plan in work places now, and where to; null before it is known. */
    private int nextUnit;

    private Place target;

    /** Whether a unit moved by the plan in work. */
    private boolean hasMoved;

    /**
     * @param onMoved told of a unit that can {@linkplain Unit#move() move} as soon as it can
     * @param onDeviceLost told why the device refuses for good, and calls {@link #deviceLost}
     */
    Placement(
            HybridOptions options,
            PartitionedRows rows,
            BuildChunks log,
            PlaceEngines device,
            PlaceEngines host,
            Consumer<Unit> onMoved,
            Consumer<EngineUnavailableException> onDeviceLost) {
        this.options = options;
        this.rows = rows;
        this.log = log;
        this.device = device;
        this.host = host;
        this.onMoved = onMoved;
        this.onDeviceLost = onDeviceLost;
    }

    List<Unit> units() {
        return units;
    }

    /** Unit of a partition, counted from the first partition. */
    Unit unitOf(int partition) {
        return units.get(unitOfPartition[partition]);
    }

    // ------------------------------------------------------------------ first placement

    /**
     * Divides the build side and gives each unit its first place, step by step.
     *
     * @return whether each has one
     */
    boolean placeStep(long maxRows) {
        if (units.isEmpty()) {
            divide(options.units() > 0 ? Math.min(options.units(), partitions()) : chosenUnits());
        } else if (move != null) {
            stepFirstMove(maxRows);
        } else if (firstPlan != null) {
            startFirstMove();
        } else if (plansLeft > 0) {
            plansLeft--;
            startPlan();
        } else {
            makeRoomForSpilled();
            boolean isTooLarge = units.size() == 1 && !units.get(0).place().hasTables();
            if (!isTooLarge || partitions() == 1) {
                return true;
            }
            divide(Fanout.divided(Fanout.MIN_UNITS, partitions()));
        }
        return false;
    }

    private int partitions() {
        return options.partitions();
    }

    private int chosenUnits() {
        PlaceEngines fastest = device.isOpen() ? device : host;
        return Fanout.units(
                fastest.peakBytes(rows.total()), fastest.availableBytes(), partitions());
    }

    private void divide(int count) {
        List<Unit> divided = new ArrayList<>();
        unitOfPartition = new int[partitions()];
        for (int u = 0; u < count; u++) {
            int first = (int) ((long) partitions() * u / count);
            int end = (int) ((long) partitions() * (u + 1) / count);
            int base = options.firstPartition();
            divided.add(new Unit(u, base + first, base + end, rows.bytes(first, end)));
            for (int p = first; p < end; p++) {
                unitOfPartition[p] = u;
            }
        }
        units = List.copyOf(divided);
        probes = new RunningHistogram(count, options.windowRows());
        rowsUntilPlan = options.windowRows();
        plansLeft = FIRST_PLANS;
    }

    private void startPlan() {
        firstPlan = plan(true);
        nextUnit = 0;
        target = null;
        hasMoved = false;
    }

    /** Starts the next move of the plan, or ends the plan: another one follows if a unit moved. */
    private void startFirstMove() {
        for (; nextUnit < units.size(); nextUnit++, target = null) {
            Unit unit = units.get(nextUnit);
            target = target == null ? firstPlan.get(nextUnit) : target;
            for (;
                    target.hasTables() && !unit.place().isAtLeast(target);
                    target = target.slower()) {
                UnitMove first = moveOf(unit, target);
                if (first.isPossible()) {
                    move = first;
                    return;
                }
            }
        }
        firstPlan = null;
        boolean hasSpilled = units.stream().anyMatch(unit -> !unit.place().hasTables());
        plansLeft = hasMoved && hasSpilled ? plansLeft : 0;
    }

    private void stepFirstMove(long maxRows) {
        try {
            move.step(options.partitionedDimension(), log, maxRows, 1);
        } catch (EngineUnavailableException e) {
            giveUpMove(e);
            target = target.slower();
            return;
        }
        if (!move.isLoading()) {
            finishIfPossible();
            hasMoved = true;
        }
    }

    /** Leaves room on the host to make tables of one partition at a time. */
    private void makeRoomForSpilled() {
        for (int u = units.size() - 1; u >= 0; u--) {
            boolean spills = units.stream().anyMatch(unit -> !unit.place().hasTables());
            if (!spills || host.availableBytes() >= spillBytes()) {
                return;
            }
            Unit unit = units.get(u);
            if (unit.place() == Place.HOST) {
                spill(unit);
            }
        }
    }

    /** At once: nothing is submitted to it. */
    private void spill(Unit unit) {
        unit.moveTo(Place.SPILLED, null);
        onMoved.accept(unit);
    }

    private long spillBytes() {
        return host.peakBytes(rows.largest());
    }

    // ------------------------------------------------------------------ placement by probes

    private List<Place> plan(boolean first) {
        long allBytes = Math.max(1, rows.total());
        List<UnitLoad> loads = new ArrayList<>();
        for (Unit unit : units) {
            double share =
                    first ? (double) unit.buildBytes() / allBytes : probes.share(unit.number());
            loads.add(new UnitLoad(unit.bytesIn(device), unit.bytesIn(host), share, unit.place()));
        }
        return PlacementPlanner.plan(
                loads, new PlacementPlanner.Budgets(budget(device), budget(host), spillBytes()));
    }

    /** What is free in a place, and what its units would free; -1 where it cannot be used. */
    private long budget(PlaceEngines place) {
        if (!place.isOpen()) {
            return -1;
        }
        long free = place.availableBytes();
        long freed =
                units.stream()
                        .filter(unit -> unit.place() == place.place())
                        .mapToLong(Unit::tableBytes)
                        .sum();
        return free > Long.MAX_VALUE - freed ? Long.MAX_VALUE : free + freed;
    }

    /** Takes note of probes, but for those that were announced. */
    void probed(Unit unit, long rows) {
        count(unit, unit.unannounced(rows));
    }

    /**
     * Takes note of probes that come now and are submitted later, with others of their partition:
     * units are placed by what comes, not by what happens to be submitted in a row.
     */
    void announced(Unit unit, long rows) {
        unit.announce(rows);
        count(unit, rows);
    }

    /** Finds, at times, a reason to place units anew. */
    private void count(Unit unit, long rows) {
        if (units.size() == 1 && unit.place().hasTables()) {
            return;
        }
        probes.add(unit.number(), rows);
        rowsUntilPlan -= rows;
        if (rowsUntilPlan <= 0 && move == null && planned.isEmpty()) {
            rowsUntilPlan = Math.max(1, options.windowRows() / PLANS_IN_WINDOW);
            planMoves();
        }
    }

    /** Gives the device up; its units are placed anew from the next probe on. */
    void deviceLost(EngineUnavailableException e) {
        device.lose(e);
        planned.clear();
        if (move != null
                && (move.target() == Place.DEVICE || move.unit().place() == Place.DEVICE)) {
            endMove().cancel();
        }
        rowsUntilPlan = 0;
    }

    /** Those that make room go first. */
    private void planMoves() {
        List<Place> plan = plan(false);
        for (Unit unit : units) {
            Place target = plan.get(unit.number());
            if (target != unit.place()) {
                UnitMove next = moveOf(unit, target);
                if (unit.place().isAtLeast(target)) {
                    planned.addFirst(next);
                } else {
                    planned.addLast(next);
                }
            }
        }
    }

    /**
     * Gives up tables that are being made on the host, else spills the unit of the host that is
     * probed least, of those without chunks.
     *
     * @return whether there was one
     */
    boolean makeRoomOnHost() {
        if (move != null && move.isLoading() && move.target() == Place.HOST) {
            endMove().giveUp();
            return true;
        }
        Optional<Unit> least =
                units.stream()
                        .filter(unit -> unit.place() == Place.HOST)
                        .filter(unit -> !unit.isMoving() && !unit.hasSubmitted())
                        .min(Comparator.comparingDouble(unit -> probes.share(unit.number())));
        least.ifPresent(this::spill);
        return least.isPresent();
    }

    /**
     * Goes on with the move under way, by about a chunk. To be called when a unit may have become
     * able to move, too.
     */
    void step() {
        if (move == null) {
            UnitMove next = planned.poll();
            if (next == null || !next.isPossible()) {
                return;
            }
            move = next;
        }
        try {
            stepTables();
        } catch (EngineUnavailableException e) {
            Unit unit = move.unit();
            boolean hasToGo = unit.place().isAtLeast(move.target());
            giveUpMove(e);
            if (!hasToGo) {
                return;
            }
            // Without room further down, it is spilled.
            move = moveOf(unit, Place.SPILLED);
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
            onMoved.accept(endMove().unit());
        }
    }

    /** The target of the move under way refuses. */
    private void giveUpMove(EngineUnavailableException e) {
        UnitMove refused = endMove();
        refused.giveUp();
        if (e.scope() == EngineUnavailableException.Scope.PLACE) {
            if (refused.target() == Place.HOST) {
                throw e;
            }
            onDeviceLost.accept(e);
        }
    }

    /** The move that was under way, and is so no longer. */
    private UnitMove endMove() {
        UnitMove ended = move;
        move = null;
        return ended;
    }

    private UnitMove moveOf(Unit unit, Place target) {
        return new UnitMove(
                unit,
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
        units.forEach(Unit::close);
    }
}
