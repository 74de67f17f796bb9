package io.github.gpujoin.hybrid;

import io.github.gpujoin.core.engine.AbstractJoinEngine;
import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.EngineChecks;
import io.github.gpujoin.core.engine.EngineState;
import io.github.gpujoin.core.engine.EngineUnavailableException;
import io.github.gpujoin.core.engine.GroupRows;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.PendingProbe;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.layout.Chunk;
import java.util.ArrayDeque;
import java.util.List;
import java.util.function.Consumer;

/**
 * Joins with a device and the host together, each within its memory budget, and from the log what
 * fits neither. The build side is divided by radix partition into {@linkplain Unit units}; a probe
 * chunk is of one partition, or of many if there is one unit, and goes to the engine of its unit.
 * Results come in order of chunks, whichever engine gives them.
 *
 * <pre>
 *   probe chunk -- its partition -- unit --+-- DEVICE   engine of the unit, device's budget
 *                                          +-- HOST     engine of the unit, host's budget
 *                                          +-- SPILLED  tables made for a while, host's budget
 * </pre>
 *
 * <p>A device that fails is one without room from then on: its units are joined from the log until
 * the host has tables for them, and no result is lost or repeated. One thread calls at a time, but
 * for {@link #stats()}, {@link #places()}, {@link #placedRows()} and {@link #isSpilled}.
 */
public final class HybridJoinEngine extends AbstractJoinEngine<HybridProbe> {

    private static final int MAX_IN_FLIGHT = 32;

    private final HybridOptions options;
    private final PlaceEngines device;
    private final PlaceEngines host;
    private final BuildChunks log;
    private final Consumer<EngineUnavailableException> onDeviceLost;
    private final PartitionedRows rows;
    private final Placement placement;
    private final SpillVisits visits;
    private final ArrayDeque<JoinEngine> retired = new ArrayDeque<>();

    /** Null where results are given as rows. */
    private final GroupMerge groups;

    private final HandedOutRows handedOut;

    private volatile ShownPlaces shown = ShownPlaces.NONE;

    /**
     * @param device makes forkable engines for the device; null where there is none
     * @param host makes forkable engines for the host
     * @param log of all chunks that are submitted, which it has by then
     * @param onDeviceLost told why the device is given up
     */
    public HybridJoinEngine(
            JoinSpec spec,
            HybridOptions options,
            JoinEngineFactory device,
            JoinEngineFactory host,
            BuildChunks log,
            Consumer<EngineUnavailableException> onDeviceLost) {
        super(spec, MAX_IN_FLIGHT);
        if (spec.changes()) {
            throw new IllegalArgumentException(
                    "a build side that is divided does not change: dimensions="
                            + spec.dimensions().stream().map(DimensionSpec::name).toList());
        }
        this.options = options;
        this.device = new PlaceEngines(Place.DEVICE, device);
        this.host = new PlaceEngines(Place.HOST, host);
        this.log = log;
        this.onDeviceLost = onDeviceLost;
        this.rows = new PartitionedRows(options);
        this.placement =
                new Placement(
                        options,
                        rows,
                        log,
                        this.device,
                        this.host,
                        this::finishMove,
                        this::loseDevice);
        this.groups = spec.aggregates() ? new GroupMerge(spec.aggregation()) : null;
        this.visits = new SpillVisits(this::visit, engine -> groups.add(engine.takeGroups()));
        this.handedOut = new HandedOutRows(spec, device != null);
    }

    /** Where the units of the build side stand, in order; empty while LOADING. */
    public List<Place> places() {
        return shown.places();
    }

    /** What stands in each place that holds units, the fastest first; empty while LOADING. */
    public List<PlacedRows> placedRows() {
        return shown.rows();
    }

    /** An engine that joins on the device; the host's where there is none; null while LOADING. */
    public JoinEngine onDevice() {
        return device.isOpen() ? device.shared() : host.shared();
    }

    /** Why the device is not used; null where it is, or there is none. */
    public EngineUnavailableException deviceFailure() {
        return device.failure();
    }

    /**
     * Whether chunks of the partition wait best for each other, since its tables are in the log.
     */
    public boolean isSpilled(int partition) {
        List<Place> current = shown.places();
        return !current.isEmpty()
                && current.get(placement.unitOf(rows.index(partition)).number()) == Place.SPILLED;
    }

    /**
     * Whether facts of many partitions may be submitted in one chunk, since all of them have their
     * tables in one place. Facts that it has by then are joined wherever tables move.
     */
    public boolean takesManyPartitions() {
        List<Place> current = shown.places();
        return current.size() == 1 && current.get(0).hasTables();
    }

    /** Bytes of facts for which it is worth while to make a spilled partition's tables. */
    public long worthwhileFactBytes(int partition) {
        return SpillCost.worthwhileFactBytes(rows.bytes(rows.index(partition)));
    }

    // ------------------------------------------------------------------ build side

    /** {@inheritDoc} Only counts it: tables are made from the log once all is known. */
    @Override
    protected void append(int dimension, Chunk chunk) {
        if (dimension == options.partitionedDimension()) {
            rows.add(rows.index(chunk.partition()), EngineChecks.payloadBytes(chunk));
        }
    }

    /**
     * Counts rows of the partitioned dimension that the log has, in place of the submission of
     * their chunks.
     *
     * @param bytes as {@link EngineChecks#payloadBytes} counts them
     */
    public void addBuild(int partition, long rowCount, long bytes) {
        state().require(EngineState.LOADING);
        rows.add(rows.index(partition), bytes);
        countBuild(rowCount, bytes);
    }

    /**
     * {@inheritDoc}
     *
     * @throws EngineUnavailableException where the host has no room for the dimensions that every
     *     unit needs
     */
    @Override
    protected boolean buildTables(long maxRows) {
        if (!openDevice(maxRows) || !host.openStep(spec(), log, maxRows)) {
            return false;
        }
        if (!placement.placeStep(maxRows)) {
            return false;
        }
        showPlaces();
        return true;
    }

    /** Whether the device is open, or cannot be used. */
    private boolean openDevice(long maxRows) {
        try {
            return device.openStep(spec(), log, maxRows);
        } catch (EngineUnavailableException e) {
            device.lose(e);
            handedOut.deviceFailed();
            onDeviceLost.accept(e);
            return true;
        }
    }

    private void showPlaces() {
        shown = ShownPlaces.of(placement, device, host);
    }

    /** The unit goes to its new place; its old engine's last batch may still be read. */
    private void finishMove(Unit unit) {
        takeGroupsOf(unit);
        JoinEngine old = unit.move();
        if (old != null) {
            retired.add(old);
        }
        if (state() == EngineState.BUILDING) {
            closeRetired();
            return;
        }
        showPlaces();
        feed(unit);
    }

    // ------------------------------------------------------------------ probe side

    @Override
    protected HybridProbe open(PendingProbe pending) {
        int partition = pending.chunk().partition();
        int index = rows.index(partition);
        return new HybridProbe(pending, placement.unitOf(index), options.firstPartition() + index);
    }

    @Override
    protected void queued(Chunk chunk) {
        Unit unit = placement.unitOf(rows.index(chunk.partition()));
        placement.probed(unit, chunk.rowCount());
        feed(unit);
    }

    /**
     * Takes note of facts that come now and are submitted later, with others of their partition.
     */
    public void announce(int partition, long rowCount) {
        placement.announced(placement.unitOf(rows.index(partition)), rowCount);
    }

    /**
     * Gives an engine what it has room for of its unit's chunks, unless the unit is to move. An
     * engine of the host works when it is polled only, so it is given the oldest chunk of all at
     * most, and its unit can move at any other time.
     */
    private void feed(Unit unit) {
        if (!unit.place().hasTables() || unit.isMoving()) {
            return;
        }
        try {
            for (HybridProbe probe : queue()) {
                if (unit.place() == Place.HOST && probe != queue().head()) {
                    return;
                }
                if (probe.unit() == unit && !probe.isSubmitted()) {
                    if (!unit.engine().submitProbe(probe.chunk(), probe.completedRows())) {
                        return;
                    }
                    probe.submitted();
                }
            }
        } catch (EngineUnavailableException e) {
            loseDevice(unit, e);
        }
    }

    @Override
    protected ResultBatch nextBatch() {
        visits.closeUnlessAwaited(queue());
        closeRetired();
        HybridProbe head = queue().head();
        if (head == null || awaitsTake()) {
            return null;
        }
        ResultBatch batch = null;
        try {
            batch = head.unit().place().hasTables() ? pollUnit(head) : visits.poll(head);
        } catch (EngineUnavailableException e) {
            loseDevice(head.unit(), e);
        }
        return batch == null ? null : delivered(head, batch);
    }

    private ResultBatch pollUnit(HybridProbe head) {
        Unit unit = head.unit();
        if (!head.isSubmitted()) {
            feed(unit);
        }
        if (!head.isSubmitted()) {
            return null;
        }
        ResultBatch batch = unit.engine().poll();
        if (batch == null && unit.engine().awaitsTake()) {
            takeGroupsOf(unit);
        }
        return batch;
    }

    private SpillVisit visit(HybridProbe first) {
        return new SpillVisit(
                spec(),
                options.partitionedDimension(),
                first,
                host,
                log,
                this::retireVisited,
                placement::makeRoomOnHost,
                options.memoryWaitNs());
    }

    private void retireVisited(JoinEngine engine) {
        retired.add(engine);
        if (groups != null && state() == EngineState.JOINING) {
            groups.add(engine.takeGroups());
        }
    }

    private ResultBatch delivered(HybridProbe head, ResultBatch given) {
        Unit unit = head.unit();
        ResultBatch batch = handedOut.handOut(given, unit.place() == Place.DEVICE);
        if (spec().aggregates()
                && unit.place().hasTables()
                && batch.completedRows() > head.completedRows()) {
            unit.setHasGroups(true);
        }
        queue().delivered(batch);
        if (batch.isLast()) {
            unit.answered();
            placement.step();
            feed(unit);
        }
        return batch;
    }

    // ------------------------------------------------------------------ groups

    @Override
    public boolean awaitsTake() {
        return groups != null && groups.isFull();
    }

    @Override
    protected GroupRows takenGroups() {
        if (queue().size() == 0) {
            placement.units().forEach(this::takeGroupsOf);
            visits.takeGroups();
        }
        return groups.take();
    }

    private void takeGroupsOf(Unit unit) {
        if (unit.engine() == null || !unit.hasGroups() && !unit.engine().awaitsTake()) {
            return;
        }
        try {
            groups.add(unit.engine().takeGroups());
            // A device may have added up more of a chunk than was polled.
            unit.setHasGroups(unit.hasSubmitted());
        } catch (EngineUnavailableException e) {
            loseDevice(unit, e);
        }
    }

    // ------------------------------------------------------------------ a device that fails

    private void loseDevice(Unit failed, EngineUnavailableException e) {
        if (failed.place() != Place.DEVICE) {
            fail();
            throw e;
        }
        loseDevice(e);
    }

    /** Goes on without the device, from where results were handed out. */
    private void loseDevice(EngineUnavailableException e) {
        List<Unit> lost =
                placement.units().stream().filter(u -> u.place() == Place.DEVICE).toList();
        if (lost.stream().anyMatch(Unit::hasGroups)) {
            fail();
            throw new IllegalStateException(
                    "groups that a failed device held come again from the last checkpoint only", e);
        }
        handedOut.deviceFailed();
        placement.deviceLost(e);
        for (HybridProbe probe : queue()) {
            if (lost.contains(probe.unit())) {
                probe.withdrawn();
            }
        }
        lost.forEach(this::spillLost);
        onDeviceLost.accept(e);
        showPlaces();
    }

    private void spillLost(Unit unit) {
        unit.withdrawn();
        unit.stay();
        unit.moveTo(Place.SPILLED, null);
        retired.add(unit.move());
    }

    /** Lets go of what only the last batch needed. */
    private void closeRetired() {
        while (!retired.isEmpty()) {
            retired.remove().close();
        }
        handedOut.closeFilter();
    }

    // ------------------------------------------------------------------ account

    @Override
    protected long tableBytes() {
        return shown.tableBytes();
    }

    @Override
    protected void release() {
        try (host;
                device;
                placement;
                handedOut) {
            visits.close();
            closeRetired();
        }
    }
}
