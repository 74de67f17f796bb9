// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import io.github.gpujoin.core.engine.EngineChecks;
import io.github.gpujoin.core.engine.EngineState;
import io.github.gpujoin.core.engine.EngineStats;
import io.github.gpujoin.core.engine.GroupRows;
import io.github.gpujoin.core.engine.InFlightProbe;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.api.explain.PartitionClass;
import io.github.gpujoin.flink.api.explain.ReasonCode;
import io.github.gpujoin.hybrid.FallbackDeduplicator;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.flink.util.ExceptionUtils;
import org.jspecify.annotations.Nullable;

/**
 * Joins with one engine until its GPU fails, and with another from then on, in any state. No result
 * is lost or repeated.
 *
 * <p>The tables of the second engine are built from the build log. This class counts the pending
 * probes, since a failed engine cannot report them. If an engine fails within a fact row, the
 * second one starts the row over, and the results that were already emitted are dropped. Groups of
 * a failed engine are lost, so the job restarts from its last checkpoint.
 *
 * <pre>
 *   create ----- refused --> standby
 *   LOADING ---- fails ----> standby, empty; BUILDING loads it from the log
 *   BUILDING --- fails ----> standby, empty; BUILDING loads it from the log
 *   JOINING ---- fails ----> standby, empty; BUILDING again. The first one stays open until the
 *                            next poll, since its batch is still read
 * </pre>
 *
 * <p>During the second BUILDING each {@link #poll} does one step and returns null, and the log must
 * not change. The log contains the change that failed.
 *
 * <p>Only {@link GpuUnavailableException} causes the fallback, once. One thread calls at a time,
 * except for {@link #stats()} and {@link #engineName()}.
 */
final class FallbackJoinEngine implements JoinEngine, EngineStatus {

    /** Reads all build chunks so far. */
    @FunctionalInterface
    interface BuildLogReplay {
        ChunkReader open() throws Exception;
    }

    /** Reads chunks in order. */
    @FunctionalInterface
    interface ChunkReader {

        /** Returns null at the end. */
        @Nullable Chunk next() throws Exception;
    }

    /** Probe chunks that are accepted while the standby is built. */
    private static final int MAX_PENDING_REBUILD = 4;

    private final JoinSpec spec;
    private final @Nullable JoinEngineFactory preferred;
    private final JoinEngineFactory standby;
    private final BuildLogReplay buildLog;
    private final Consumer<GpuUnavailableException> onFallback;
    private final ArrayDeque<InFlightProbe> pending = new ArrayDeque<>();
    private final FallbackDeduplicator deduplicator;
    private volatile JoinEngine engine;

    /** Failure of the preferred engine; null before. */
    private volatile @Nullable GpuUnavailableException failure;

    /** The failed engine, until its last batch has been read; otherwise null. */
    private @Nullable JoinEngine retired;

    /** Whether the current engine must be loaded from the log by {@link #replay}. */
    private boolean mustReplay;

    /** Null before the first step of loading from the log, and after the last. */
    private @Nullable ChunkReader replay;

    /** Whether build steps have begun. */
    private volatile boolean isBuilding;

    /** Whether the standby is built for pending probes. */
    private volatile boolean isRebuilding;

    /** Whether groups hold facts that are neither pending nor in a snapshot. */
    private boolean holdsGroups;

    private volatile long probeRows;
    private volatile long resultRows;

    /**
     * @param preferred tried first, or null if {@code standby} is the only engine
     * @param onFallback called with the reason before the fallback to the second engine
     */
    FallbackJoinEngine(
            JoinSpec spec,
            @Nullable JoinEngineFactory preferred,
            JoinEngineFactory standby,
            BuildLogReplay buildLog,
            Consumer<GpuUnavailableException> onFallback) {
        this.spec = spec;
        this.preferred = preferred;
        this.standby = standby;
        this.buildLog = buildLog;
        this.onFallback = onFallback;
        this.deduplicator = new FallbackDeduplicator(spec, preferred != null);
        if (preferred != null) {
            try {
                engine = preferred.create(spec);
                return;
            } catch (GpuUnavailableException e) {
                recordFailure(e);
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
        GpuUnavailableException failed = failure;
        if (failed != null) {
            return GpuFailureReason.of(failed.failure());
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
        EngineState state = engine.state();
        boolean builds = isBuilding && state == EngineState.LOADING;
        boolean rebuilds = isRebuilding && state == EngineState.JOINING;
        return builds || rebuilds ? EngineState.BUILDING : state;
    }

    // ------------------------------------------------------------------ build side

    @Override
    public void submitBuild(int dimension, Chunk chunk) {
        if (mustReplay) {
            // The chunk is in the log, and is loaded from there.
            state().require(EngineState.LOADING);
            EngineChecks.buildSide(spec, dimension, chunk);
            return;
        }
        boolean isJoining = engine.state() == EngineState.JOINING;
        try {
            engine.submitBuild(dimension, chunk);
        } catch (GpuUnavailableException e) {
            if (isJoining) {
                fallBackWithProbes(e);
            } else {
                fallBackEmpty(e);
            }
        }
    }

    @Override
    public boolean buildStep(long maxRows) {
        isBuilding = true;
        try {
            return (!mustReplay || replayStep(maxRows)) && engine.buildStep(maxRows);
        } catch (GpuUnavailableException e) {
            fallBackEmpty(e);
            return false;
        }
    }

    /** Continues with an empty standby. A log in the middle of a replay cannot be reread here. */
    private void fallBackEmpty(GpuUnavailableException e) {
        recordFailure(e);
        engine.close();
        engine = standby.create(spec);
        mustReplay = true;
    }

    /**
     * Submits chunks of the log with about the given number of rows.
     *
     * @return whether no chunk is left
     */
    private boolean replayStep(long maxRows) {
        try {
            if (replay == null) {
                replay = buildLog.open();
            }
            for (long rows = 0; rows < maxRows; ) {
                Chunk chunk = replay.next();
                if (chunk == null) {
                    replay = null;
                    mustReplay = false;
                    return true;
                }
                engine.submitBuild(chunk.dimension(), chunk);
                rows += chunk.rowCount();
            }
        } catch (Exception e) {
            ExceptionUtils.rethrow(e, "The build log cannot be read.");
        }
        return false;
    }

    /** Reports the failure of the preferred engine; throws it if no engine remains. */
    private void recordFailure(GpuUnavailableException e) {
        if (preferred == null || failure != null) {
            throw e;
        }
        onFallback.accept(e);
        failure = e;
        deduplicator.onDeviceFailure();
    }

    // ------------------------------------------------------------------ probe side

    @Override
    public boolean verifiesSlots() {
        return !isRebuilding && engine.verifiesSlots();
    }

    @Override
    public boolean submitProbe(Chunk chunk, int firstRow) {
        EngineChecks.probe(spec, chunk);
        InFlightProbe probe = new InFlightProbe(chunk, firstRow);
        boolean hasRoom = pending.size() < MAX_PENDING_REBUILD;
        boolean isAccepted = orFallBack(() -> engine.submitProbe(chunk, firstRow), hasRoom);
        if (isAccepted) {
            pending.add(probe);
        }
        return isAccepted;
    }

    @Override
    public void restore(List<InFlightProbe> probes) {
        EngineChecks.nothingInFlight(pending.size());
        orFallBack(
                () -> {
                    engine.restore(probes);
                    return null;
                },
                null);
        pending.addAll(probes);
    }

    @Override
    public @Nullable ResultBatch poll() {
        closeRetired();
        if (isRebuilding) {
            rebuildStep();
            return null;
        }
        ResultBatch polled = orFallBack(() -> engine.poll(), null);
        if (polled == null) {
            return null;
        }
        ResultBatch batch = deduplicator.deduplicate(polled, failure == null);
        InFlightProbe head = pending.remove();
        int completed = batch.completedRows() - head.firstRow();
        probeRows += completed;
        resultRows += batch.rowCount();
        if (!batch.isLast()) {
            pending.addFirst(new InFlightProbe(head.chunk(), batch.completedRows()));
        }
        holdsGroups |= spec.isAggregating() && completed > 0;
        return batch;
    }

    @Override
    public boolean awaitsDrain() {
        return !isRebuilding && engine.awaitsDrain();
    }

    @Override
    public GroupRows drainGroups() {
        if (isRebuilding) {
            EngineChecks.drainingGroups(spec, pending.size(), false);
            return noGroups();
        }
        GroupRows groups;
        try {
            groups = engine.drainGroups();
        } catch (GpuUnavailableException e) {
            fallBackWithProbes(e);
            // The failed engine's groups hold pending facts only, which the standby joins again.
            groups = noGroups();
        }
        resultRows += groups.rowCount();
        holdsGroups = !pending.isEmpty();
        return groups;
    }

    /**
     * Calls the current engine. If it fails, the standby continues with all that is pending.
     *
     * @param whileRebuilding result until the standby has its tables
     */
    private <T extends @Nullable Object> T orFallBack(Supplier<T> call, T whileRebuilding) {
        if (isRebuilding) {
            return whileRebuilding;
        }
        state().require(EngineState.JOINING);
        try {
            return call.get();
        } catch (GpuUnavailableException e) {
            fallBackWithProbes(e);
            return whileRebuilding;
        }
    }

    private GroupRows noGroups() {
        return new GroupRows(spec.aggregation(), new long[0]);
    }

    private void fallBackWithProbes(GpuUnavailableException e) {
        recordFailure(e);
        if (holdsGroups) {
            throw new IllegalStateException(
                    "A failed device held groups of joined facts. The job restarts from the last checkpoint.",
                    e);
        }
        JoinEngine next = standby.create(spec);
        retired = engine;
        engine = next;
        mustReplay = true;
        isRebuilding = true;
    }

    /** Does one step of the build; the last step restores pending probes. */
    private void rebuildStep() {
        if (buildStep(BUILD_STEP_ROWS)) {
            engine.restore(List.copyOf(pending));
            isRebuilding = false;
        }
    }

    /** Releases the buffers of the last batch. */
    private void closeRetired() {
        if (retired != null) {
            retired.close();
            retired = null;
        }
        deduplicator.closeFilterIfDone();
    }

    @Override
    public int inFlightCount() {
        return pending.size();
    }

    @Override
    public List<InFlightProbe> snapshot() {
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
                deduplicator) {
            closeRetired();
        }
    }
}
