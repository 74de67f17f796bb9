// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.api.explain.Distribution;
import io.github.gpujoin.flink.api.explain.JoinExplanation;
import io.github.gpujoin.flink.engine.EngineStatus;
import io.github.gpujoin.flink.exchange.LoadMark;
import io.github.gpujoin.flink.filter.DimensionKeys;
import io.github.gpujoin.flink.filter.FilterPublisher;
import io.github.gpujoin.flink.metrics.RunReport;
import io.github.gpujoin.flink.metrics.SubtaskCounts;
import io.github.gpujoin.flink.runtime.distribution.MeasuredDimension;
import io.github.gpujoin.flink.state.ProbeLog;
import java.util.Map;
import java.util.Set;
import org.apache.flink.api.common.TaskInfo;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.util.function.ThrowingRunnable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The input of dimensions. Appends their rows to the {@linkplain BuildSide build side} until all
 * dimensions are complete; then builds the tables and starts {@link JoinPhase#JOIN}. In JOIN it
 * applies changes of changelog dimensions, and treats other rows as {@linkplain LateRows late}.
 *
 * <p>Runs in the task's mailbox thread.
 */
final class BuildInput {

    private static final Logger LOG = LoggerFactory.getLogger(BuildInput.class);

    private final JoinSettings settings;
    private final LoadProgress progress;
    private final BuildSide buildSide;
    private final LateRows lateRows;
    private final JoinEngine engine;
    private final EngineStatus engineStatus;
    private final ProbeSide probeSide;
    private final ProbePath probes;
    private final ProbeLog probeLog;
    private final SubtaskCounts counts;
    private final TaskInfo task;
    private final TableBuild tableBuild;
    private final DimensionKeys dimensionKeys;
    private final FilterPublisher filters;
    private final Runnable onLoaded;
    private final ThrowingRunnable<Exception> checkNotCancelled;

    /** Whether the restored snapshot is of {@link JoinPhase#JOIN}. */
    private boolean wasComplete;

    /** Whether the build of the tables reads keys from the log. */
    private boolean awaitsLog;

    /**
     * @param probes joins facts by way of {@code probeSide}
     * @param onLoaded called at the end of LOAD, before the tables are built
     * @param checkNotCancelled throws if the task has been cancelled
     */
    BuildInput(
            JoinSettings settings,
            LoadProgress progress,
            BuildSide buildSide,
            LateRows lateRows,
            JoinEngine engine,
            EngineStatus engineStatus,
            ProbeSide probeSide,
            ProbePath probes,
            ProbeLog probeLog,
            SubtaskCounts counts,
            TaskInfo task,
            MailboxExecutor mailbox,
            DimensionKeys dimensionKeys,
            FilterPublisher filters,
            Runnable onLoaded,
            ThrowingRunnable<Exception> checkNotCancelled) {
        this.settings = settings;
        this.progress = progress;
        this.buildSide = buildSide;
        this.lateRows = lateRows;
        this.engine = engine;
        this.engineStatus = engineStatus;
        this.probeSide = probeSide;
        this.probes = probes;
        this.probeLog = probeLog;
        this.counts = counts;
        this.task = task;
        this.tableBuild = new TableBuild(engine, mailbox, this::startJoining);
        this.dimensionKeys = dimensionKeys;
        this.filters = filters;
        this.onLoaded = onLoaded;
        this.checkNotCancelled = checkNotCancelled;
    }

    /**
     * Restores both sides in the phase of the snapshot, since inputs that were complete may not
     * report it again. Replicated dimensions are replayed first.
     *
     * @param readAgain dimensions that are read again, and so are incomplete
     */
    void restore(Set<Integer> readAgain) throws Exception {
        progress.restore(readAgain);
        buildSide.restore(settings.engines().division());
        wasComplete = buildSide.wasComplete();
        probes.restore(!wasComplete);
        boolean awaitsReplay = !settings.replicas().isEmpty() && !progress.isOfEarlierRelease();
        // The task may have taken the snapshot during the build of the tables.
        if (!awaitsReplay && (wasComplete || progress.isComplete())) {
            startBuild();
        }
    }

    void snapshot() throws Exception {
        progress.snapshot();
        buildSide.snapshot();
    }

    void accept(LoadMark mark) throws Exception {
        progress.accept(mark);
        if (wasComplete ? progress.isReplayed() : progress.isComplete()) {
            startBuild();
        }
    }

    void accept(Chunk chunk) throws Exception {
        if (isLate(chunk.dimension())) {
            lateRows.accept(chunk, "all dimensions complete");
            return;
        }
        // Facts that the engine holds arrived before the change.
        probeSide.awaitEngine();
        buildSide.append(chunk);
    }

    /** Whether a row that arrives now follows the end of its dimension. */
    private boolean isLate(int dimension) {
        DimensionSpec spec = settings.spec().dimensions().get(dimension);
        boolean wasLoaded = wasComplete && !settings.replicas().dimensions().contains(dimension);
        return (isLoadComplete() || wasLoaded) && !spec.isChangelog();
    }

    /** Ignored, unless the restored snapshot lacks {@code EndedDimensions}. */
    void accept(Watermark mark) throws Exception {
        if (mark.getTimestamp() == Long.MAX_VALUE && progress.isOfEarlierRelease()) {
            startBuild();
        }
    }

    /** Records the end of all dimensions; called again after a restore with a finished source. */
    void endInput() throws Exception {
        requireReplayed();
        startBuild();
    }

    /** The operator that replays ends after facts and versions, so no row may wait then. */
    private void requireReplayed() {
        boolean waits = !probeLog.isEmpty() || probes.deferredRowCount() > 0;
        if (waits && !progress.isReplayed() && !progress.isOfEarlierRelease()) {
            throw new IllegalStateException(
                    "Replicated dimensions were not replayed: waiting fact chunks=%d, rows waiting for event time=%d.\nRestore an earlier checkpoint and report this."
                            .formatted(probeLog.size(), probes.deferredRowCount()));
        }
    }

    /** Builds the tables in mails; facts wait until the tables are complete. */
    private void startBuild() throws Exception {
        if (!isLoadComplete()) {
            buildSide.startBuild();
            onLoaded.run();
            awaitsLog = dimensionKeys.awaitsLog();
            if (!awaitsLog) {
                publishFilters();
            }
            tableBuild.start();
        }
    }

    private void startJoining() throws Exception {
        long builtMs = buildSide.complete();
        if (awaitsLog) {
            publishFilters();
        }
        LOG.info(
                "{}\n  table bytes={}, table build took {} ms, fact chunks that waited={}",
                RunReport.of(plan(), task, engineStatus, counts.build()),
                engine.stats().tableBytes(),
                builtMs,
                probeLog.size());
        probes.startJoining();
    }

    /**
     * Publishes the filters before the tables are built, for sources that wait for them; after it,
     * if the keys of restored rows are read from the log meanwhile. Marks tell which dimension is
     * partitioned. Snapshots of earlier releases lack them.
     */
    private void publishFilters() {
        filters.publish(
                progress.isOfEarlierRelease() ? Map.of() : dimensionKeys.complete(),
                progress::isPartitioned);
    }

    /** The plan with the distribution of the measured dimension. */
    private JoinExplanation plan() {
        JoinExplanation plan = settings.reporting().plan();
        MeasuredDimension measured = settings.replicas().measured();
        if (measured == null) {
            return plan;
        }
        return plan.measured(
                measured.number(),
                progress.isPartitioned(measured.number())
                        ? Distribution.PARTITIONED
                        : Distribution.REPLICATED);
    }

    private boolean isLoadComplete() {
        return isBuilding() || probeSide.phase() == JoinPhase.JOIN;
    }

    /** Whether tables are being built in mails. */
    boolean isBuilding() {
        return tableBuild.isRunning();
    }

    /** Completes the tables, if they are being built. */
    void awaitTables() throws Exception {
        tableBuild.await(checkNotCancelled);
    }
}
