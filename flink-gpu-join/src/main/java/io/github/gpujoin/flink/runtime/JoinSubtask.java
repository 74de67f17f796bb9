// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.flink.emit.ResultEmitter;
import io.github.gpujoin.flink.emit.ResultEmitterFactory;
import io.github.gpujoin.flink.engine.AssignedGpu;
import io.github.gpujoin.flink.engine.DividedEngine;
import io.github.gpujoin.flink.exchange.RowCounts;
import io.github.gpujoin.flink.exchange.ring.AnnouncedCheckpoints;
import io.github.gpujoin.flink.filter.DimensionKeys;
import io.github.gpujoin.flink.filter.FilterPublisher;
import io.github.gpujoin.flink.metrics.StageTimes.Stage;
import io.github.gpujoin.flink.runtime.expiry.DimensionExpiry;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.IOUtils;
import org.jspecify.annotations.Nullable;

/**
 * The parts of one subtask of a join: creates each of them once, in the order state, inputs,
 * engine, probes, build; connects them; and closes them. After a failure in {@link #open}, {@link
 * #close} closes the parts that exist.
 *
 * <p>Used by the task's mailbox thread.
 */
final class JoinSubtask<OUT> implements AutoCloseable {

    private final SubtaskContext subtask;
    private final AssignedGpu gpu;

    private SubtaskState state;
    private SubtaskInputs inputs;
    private SubtaskEngine engine;
    private ResultEmitter<OUT> emitter;
    private ProbeSide probeSide;
    private BuildSide buildSide;
    private ProbePath probes;
    private BuildInput build;
    private DimensionKeys dimensionKeys;
    private FilterPublisher filters;

    /** Null unless the build side is divided over memory tiers. */
    private @Nullable DeviceSharing deviceSharing;

    JoinSubtask(SubtaskContext subtask) {
        this.subtask = subtask;
        this.gpu = new AssignedGpu(subtask.runtime());
    }

    /**
     * Creates, connects and restores all parts.
     *
     * @param operatorOutput of the operator
     */
    void open(
            StateInitializationContext context,
            Output<StreamRecord<OUT>> operatorOutput,
            ResultEmitterFactory<OUT> emitters)
            throws Exception {
        state = new SubtaskState(subtask, context, gpu);
        inputs = SubtaskInputs.open(subtask, gpu);
        Output<StreamRecord<OUT>> output = inputs.counted(subtask, operatorOutput);
        dimensionKeys = new DimensionKeys(subtask.spec(), subtask.settings().filters());
        engine = SubtaskEngine.open(subtask, state, inputs, dimensionKeys, gpu);
        emitter = emitters.create(subtask.runtime());
        UnmatchedBuildRows unmatched =
                UnmatchedBuildRows.of(
                        emitter,
                        state.store(),
                        state.keys(),
                        subtask::setCurrentKey,
                        state.buildLog().reader(),
                        output);
        probeSide =
                new ProbeSideFactory<>(subtask, state, inputs, engine, emitter, output)
                        .create(unmatched);
        filters =
                new FilterPublisher(
                        subtask.settings().filters(), subtask.environment(), inputs.factSenders());
        deviceSharing = createDeviceSharing();
        buildSide = createBuildSide(unmatched);
        FactOrder order = FactOrder.of(subtask.settings());
        probes = order.open(subtask, state, probeSide, buildSide, output, engine.metrics());
        build = createBuildInput(order, output);
        if (context.isRestored()) {
            build.restore(state.readAgain());
        }
    }

    private @Nullable DeviceSharing createDeviceSharing() {
        if (!(engine.status() instanceof DividedEngine divided)) {
            return null;
        }
        DeviceSharing sharing =
                new DeviceSharing(
                        subtask,
                        divided.engine(),
                        engine.counts().build(),
                        state.keys().ownPartitions());
        engine.metrics().buildShare(sharing::share);
        return sharing;
    }

    private BuildSide createBuildSide(UnmatchedBuildRows unmatched) {
        return new BuildSide(
                engine.engine(),
                engine.codes(),
                state.buildLog(),
                unmatched,
                dimensionExpiry(),
                new ReplicaLimit(subtask.spec(), subtask.settings().replicas()),
                dimensionKeys,
                engine.counts(),
                state.buildDivider(),
                subtask::checkNotCancelled);
    }

    private DimensionExpiry dimensionExpiry() {
        return new DimensionExpiry(
                subtask.settings().ttls().dimensions(),
                state.buildLog()::expire,
                state.keys(),
                () -> build.isBuilding(),
                this::awaitEngine,
                chunk -> buildSide.delete(chunk),
                subtask.time(),
                subtask.mailbox(),
                engine.metrics().expiredRows());
    }

    private void awaitEngine() throws Exception {
        build.awaitTables();
        probeSide.awaitEngine();
    }

    private BuildInput createBuildInput(FactOrder order, Output<?> output) {
        JoinSettings settings = subtask.settings();
        LoadProgress progress =
                new LoadProgress(
                        order.awaitedDimensions(subtask.spec().dimensions().size()),
                        settings.replicas().dimensions(),
                        state.keys().ownPartitions(),
                        state.endedDimensions());
        LateRows lateRows =
                new LateRows(
                        subtask.spec(),
                        settings.lateRows(),
                        output,
                        engine.metrics().lateDimensionRows(),
                        subtask.task().getIndexOfThisSubtask() == 0);
        return new BuildInput(
                settings,
                progress,
                buildSide,
                lateRows,
                engine.engine(),
                engine.status(),
                probeSide,
                probes,
                state.probeLog(),
                engine.counts(),
                subtask.task(),
                subtask.mailbox(),
                dimensionKeys,
                filters,
                deviceSharing == null ? () -> {} : deviceSharing::loaded,
                subtask::checkNotCancelled);
    }

    // ------------------------------------------------------------------ use

    /** The payload of a chunk of a dimension. */
    Chunk receiveBuild(Chunk sent) throws Exception {
        long startNs = startReceiving();
        Chunk chunk = inputs.receiveBuild(sent);
        engine.counts().times().addSince(Stage.RECEIVE, startNs);
        return chunk;
    }

    /** The payload of a chunk of facts, or of versions. */
    Chunk receiveProbe(Chunk sent) throws Exception {
        long startNs = startReceiving();
        Chunk chunk = inputs.receiveProbe(sent, probes.payloadAccess());
        engine.counts().times().addSince(Stage.RECEIVE, startNs);
        if (chunk.dimension() == ChunkDescriptor.FACTS) {
            engine.counts().probeChunk(chunk);
        }
        return chunk;
    }

    /** Returns the start time in ns. */
    private long startReceiving() {
        long startNs = System.nanoTime();
        engine.polls().interrupted();
        return startNs;
    }

    RowCounts rows() {
        return inputs.rows();
    }

    BuildInput build() {
        return build;
    }

    ProbePath probes() {
        return probes;
    }

    AnnouncedCheckpoints checkpoints() {
        return inputs.checkpoints();
    }

    /** Emits the results that the output should have before a barrier. */
    void flush() throws Exception {
        engine.polls().interrupted();
        probeSide.flush();
    }

    void snapshot() throws Exception {
        build.snapshot();
        probes.snapshot();
    }

    /** Emits all results; both inputs have ended. */
    void finish() throws Exception {
        build.awaitTables();
        probes.finish();
        filters.finish();
    }

    @Override
    public void close() throws Exception {
        // The emitter holds addresses of the engine's memory, so it is closed before the engine.
        // The engine may read slots of the inputs until it is closed.
        IOUtils.closeAll(filters, deviceSharing, emitter, engine, probeSide, inputs, gpu);
    }
}
