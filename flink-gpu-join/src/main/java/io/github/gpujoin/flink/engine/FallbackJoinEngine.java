package io.github.gpujoin.flink.engine;

import io.github.gpujoin.core.engine.EngineChecks;
import io.github.gpujoin.core.engine.EngineState;
import io.github.gpujoin.core.engine.EngineStats;
import io.github.gpujoin.core.engine.GroupRows;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.PendingProbe;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.explain.PartitionClass;
import io.github.gpujoin.flink.explain.ReasonCode;
import io.github.gpujoin.hybrid.HandedOutRows;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.flink.util.ExceptionUtils;

/**
 * Joins with one engine as long as its GPU does, and with another from then on: in any state, with
 * no result lost and none repeated.
 *
 * <p>The second engine's tables are made from the build log. What is pending is counted here, not
 * asked of an engine that failed. An engine that fails in the middle of a fact row has handed out
 * some of its results; the second one starts the row over, and those are dropped from what it says.
 * Groups that an engine failed with are lost, so that the job starts over from its last checkpoint.
 *
 * <pre>
 *   create ----- refused --> standby
 *   LOADING ---- fails ----> standby, empty; loaded from the log by finishBuild
 *   finishBuild  fails ----> standby, loaded from the log
 *   JOINING ---- fails ----> standby, loaded from the log, with all that is pending; the log has
 *                            the change that failed. The first one stays open until the next
 *                            poll: a batch of it is read
 * </pre>
 *
 * <p>Only {@link GpuUnavailableException} makes the second engine take over, once. One thread calls
 * at a time, but for {@link #stats()} and {@link #engineName()}.
 */
final class FallbackJoinEngine implements JoinEngine, EngineInUse {

    /** Feeds an engine every build chunk that came so far. */
    @FunctionalInterface
    interface BuildLogReplay {
        void into(JoinEngine engine) throws Exception;
    }

    private final JoinSpec spec;
    private final JoinEngineFactory preferred;
    private final JoinEngineFactory standby;
    private final BuildLogReplay buildLog;
    private final Consumer<GpuUnavailableException> onFallback;
    private final ArrayDeque<PendingProbe> pending = new ArrayDeque<>();
    private final HandedOutRows handedOut;
    private volatile JoinEngine engine;

    /** Why the preferred engine does not join; null where it does, or there is none. */
    private volatile GpuUnavailableException failure;

    /** The engine that failed, until the batch that it lent is no longer read. */
    private JoinEngine retired;

    private boolean mustReplay;

    /** Whether groups hold facts that are no longer pending, and that no snapshot covers. */
    private boolean hasUntaken;

    private volatile long probeRows;
    private volatile long resultRows;

    /**
     * @param preferred tried first; null where there is only {@code standby}
     * @param onFallback told why the second engine takes over, before it does
     */
    FallbackJoinEngine(
            JoinSpec spec,
            JoinEngineFactory preferred,
            JoinEngineFactory standby,
            BuildLogReplay buildLog,
            Consumer<GpuUnavailableException> onFallback) {
        this.spec = spec;
        this.preferred = preferred;
        this.standby = standby;
        this.buildLog = buildLog;
        this.onFallback = onFallback;
        this.handedOut = new HandedOutRows(spec, preferred != null);
        if (preferred != null) {
            try {
                engine = preferred.create(spec);
                return;
            } catch (GpuUnavailableException e) {
                giveUp(e);
            }
        }
        engine = standby.create(spec);
    }

    @Override
    public String engineName() {
        return (preferred == null || failure != null ? standby : preferred).engineName();
    }

    @Override
    public ReasonCode reason() {
        GpuUnavailableException why = failure;
        if (why != null) {
            return ReasonCode.of(why.failure());
        }
        return preferred == null ? ReasonCode.ASKED : ReasonCode.PREFERRED;
    }

    @Override
    public List<PartitionClass> partitionClasses() {
        return List.of();
    }

    @Override
    public JoinEngine current() {
        return engine instanceof SharedTablesEngine shared ? shared.current() : engine;
    }

    @Override
    public JoinSpec spec() {
        return spec;
    }

    @Override
    public EngineState state() {
        return engine.state();
    }

    // ------------------------------------------------------------------ build side

    @Override
    public void submitBuild(int dimension, Chunk chunk) {
        if (mustReplay) {
            // It is in the log, and comes from there.
            state().require(EngineState.LOADING);
            EngineChecks.buildSide(spec, dimension, chunk);
            return;
        }
        boolean joins = engine.state() == EngineState.JOINING;
        try {
            engine.submitBuild(dimension, chunk);
        } catch (GpuUnavailableException e) {
            if (joins) {
                takeOver(e);
            } else {
                startOver(e);
            }
        }
    }

    @Override
    public void finishBuild() {
        try {
            if (!mustReplay) {
                engine.finishBuild();
            }
        } catch (GpuUnavailableException e) {
            startOver(e);
        }
        if (mustReplay) {
            load(engine);
            mustReplay = false;
        }
    }

    /** Goes on with an empty standby. A log that is just being read cannot be read anew here. */
    private void startOver(GpuUnavailableException e) {
        giveUp(e);
        engine.close();
        engine = standby.create(spec);
        mustReplay = true;
    }

    private void load(JoinEngine target) {
        try {
            buildLog.into(target);
        } catch (Exception e) {
            ExceptionUtils.rethrow(e, "the build log cannot be read");
        }
        target.finishBuild();
    }

    private void giveUp(GpuUnavailableException e) {
        if (preferred == null || failure != null) {
            throw e;
        }
        onFallback.accept(e);
        failure = e;
        handedOut.deviceFailed();
    }

    // ------------------------------------------------------------------ probe side

    @Override
    public boolean submitProbe(Chunk chunk, int firstRow) {
        boolean taken = orTakeOver(() -> engine.submitProbe(chunk, firstRow));
        if (taken) {
            pending.add(new PendingProbe(chunk, firstRow));
        }
        return taken;
    }

    @Override
    public void restore(List<PendingProbe> probes) {
        EngineChecks.nothingInFlight(pending.size());
        orTakeOver(
                () -> {
                    engine.restore(probes);
                    return null;
                });
        pending.addAll(probes);
    }

    @Override
    public ResultBatch poll() {
        closeRetired();
        ResultBatch given = orTakeOver(() -> engine.poll());
        if (given == null) {
            return null;
        }
        ResultBatch batch = handedOut.handOut(given, failure == null);
        PendingProbe head = pending.remove();
        int completed = batch.completedRows() - head.firstRow();
        probeRows += completed;
        resultRows += batch.rowCount();
        if (!batch.isLast()) {
            pending.addFirst(new PendingProbe(head.chunk(), batch.completedRows()));
        }
        hasUntaken |= spec.aggregates() && completed > 0;
        return batch;
    }

    @Override
    public boolean awaitsTake() {
        return engine.awaitsTake();
    }

    @Override
    public GroupRows takeGroups() {
        GroupRows groups;
        try {
            groups = engine.takeGroups();
        } catch (GpuUnavailableException e) {
            takeOver(e);
            // What the failed one had added up is still pending, and the standby has none of it.
            groups = new GroupRows(spec.aggregation(), new long[0]);
        }
        resultRows += groups.rowCount();
        hasUntaken = !pending.isEmpty();
        return groups;
    }

    /**
     * Calls the engine in use; where it fails, the standby, with all that is pending.
     *
     * @param call reads {@link #engine} anew each time
     */
    private <T> T orTakeOver(Supplier<T> call) {
        try {
            return call.get();
        } catch (GpuUnavailableException e) {
            takeOver(e);
            return call.get();
        }
    }

    private void takeOver(GpuUnavailableException e) {
        giveUp(e);
        if (hasUntaken) {
            throw new IllegalStateException(
                    "groups that a failed device held come again from the last checkpoint only", e);
        }
        JoinEngine next = standby.create(spec);
        try {
            load(next);
            next.restore(List.copyOf(pending));
        } catch (Throwable failed) {
            next.close();
            throw failed;
        }
        retired = engine;
        engine = next;
    }

    /** Lets go of what only the last batch needed. */
    private void closeRetired() {
        if (retired != null) {
            retired.close();
            retired = null;
        }
        handedOut.closeFilter();
    }

    @Override
    public int inFlight() {
        return pending.size();
    }

    @Override
    public List<PendingProbe> snapshot() {
        return new ArrayList<>(pending);
    }

    @Override
    public EngineStats stats() {
        EngineStats stats = engine.stats();
        return new EngineStats(
                stats.buildRows(), stats.buildBytes(), stats.tableBytes(), probeRows, resultRows);
    }

    @Override
    public void close() {
        pending.clear();
        try (JoinEngine last = engine;
                handedOut) {
            closeRetired();
        }
    }
}
