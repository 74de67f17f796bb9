// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.GroupCodes;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.flink.engine.AssignedGpu;
import io.github.gpujoin.flink.engine.EngineOpener;
import io.github.gpujoin.flink.engine.EngineStatus;
import io.github.gpujoin.flink.filter.DimensionKeys;
import io.github.gpujoin.flink.metrics.JoinMetrics;
import io.github.gpujoin.flink.metrics.SubtaskCounts;
import org.apache.flink.util.IOUtils;

/** The engine of a subtask, and its metrics. */
final class SubtaskEngine implements AutoCloseable {

    private final EngineOpener.Opened opened;
    private final SubtaskState state;
    private final JoinMetrics metrics;
    private final EnginePolls polls;
    private final SubtaskCounts counts;

    private SubtaskEngine(
            SubtaskContext subtask,
            SubtaskState state,
            SubtaskInputs inputs,
            JoinMetrics metrics,
            EngineOpener.Opened opened) {
        JoinSettings settings = subtask.settings();
        this.opened = opened;
        this.state = state;
        this.metrics = metrics;
        this.polls =
                new EnginePolls(
                        opened.engine(),
                        subtask.environment()
                                .getMetricGroup()
                                .getIOMetricGroup()
                                .getIdleTimeMsPerSecond());
        this.counts =
                new SubtaskCounts(
                        subtask.spec(),
                        settings.reporting().plan(),
                        settings.partitions(),
                        subtask.task().getNumberOfParallelSubtasks());
        inputs.register(metrics, opened.status());
        metrics.engine(
                opened.status(),
                opened.names(),
                state.keys().ownPartitions().getNumberOfKeyGroups());
        metrics.rows(
                counts, subtask.spec().dimensions().stream().map(DimensionSpec::name).toList());
        metrics.results(opened.engine(), state.probeLog());
        metrics.logged(state.buildLog().bytes());
    }

    /**
     * Opens the engine without tables.
     *
     * @param keys collects the keys of restored rows
     */
    static SubtaskEngine open(
            SubtaskContext subtask,
            SubtaskState state,
            SubtaskInputs inputs,
            DimensionKeys keys,
            AssignedGpu gpu) {
        JoinSettings settings = subtask.settings();
        JoinMetrics metrics =
                new JoinMetrics(
                        subtask.operator().getMetricGroup(), settings.reporting().metrics());
        EngineOpener.Opened opened =
                new EngineOpener(
                                subtask.spec(),
                                settings.engines(),
                                subtask.name(),
                                subtask.operator().getOperatorID(),
                                subtask.runtime(),
                                inputs.tableMemory(settings.engines().slotMemoryBytes()),
                                reason -> metrics.fallbacks(reason).inc())
                        .open(state.keys(), state.buildLog(), keys, gpu);
        try {
            return new SubtaskEngine(subtask, state, inputs, metrics, opened);
        } catch (RuntimeException e) {
            IOUtils.closeAllQuietly(opened.engine(), opened.memory());
            throw e;
        }
    }

    JoinEngine engine() {
        return opened.engine();
    }

    GroupCodes codes() {
        return opened.codes();
    }

    EngineStatus status() {
        return opened.status();
    }

    JoinMetrics metrics() {
        return metrics;
    }

    EnginePolls polls() {
        return polls;
    }

    SubtaskCounts counts() {
        return counts;
    }

    /** Also closes the copies of replicated dimensions, which the engine's memory holds. */
    @Override
    public void close() throws Exception {
        IOUtils.closeAll(opened.engine(), state.copies(), opened.memory());
    }
}
