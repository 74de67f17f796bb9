// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.emit.ResultEmitter;
import io.github.gpujoin.flink.engine.DividedEngine;
import io.github.gpujoin.flink.exchange.backpressure.OutputRoom;
import io.github.gpujoin.flink.metrics.FanOutMonitor;
import io.github.gpujoin.flink.metrics.TimedEmitter;
import io.github.gpujoin.flink.runtime.expiry.FactExpiry;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.function.ThrowingConsumer;

/** Creates the {@link ProbeSide} of a subtask, with the pump and the deferral of its engine. */
final class ProbeSideFactory<OUT> {

    private final SubtaskContext subtask;
    private final SubtaskState state;
    private final SubtaskInputs inputs;
    private final SubtaskEngine engine;
    private final ResultEmitter<OUT> emitter;
    private final Output<StreamRecord<OUT>> output;
    private ProbeSide created;

    ProbeSideFactory(
            SubtaskContext subtask,
            SubtaskState state,
            SubtaskInputs inputs,
            SubtaskEngine engine,
            ResultEmitter<OUT> emitter,
            Output<StreamRecord<OUT>> output) {
        this.subtask = subtask;
        this.state = state;
        this.inputs = inputs;
        this.engine = engine;
        this.emitter = emitter;
        this.output = output;
    }

    /** Creates the probe side; to be called once. */
    ProbeSide create(UnmatchedBuildRows unmatched) {
        created =
                new ProbeSide(
                        engine.engine(),
                        state.probeLog(),
                        deferral(),
                        unmatched,
                        this::createPump,
                        subtask.mailbox(),
                        FactExpiry.of(
                                subtask.settings().ttls().factsMs(),
                                state.probeLog(),
                                subtask.time(),
                                engine.metrics().expiredFacts()),
                        engine.counts().times(),
                        backpressure(),
                        state.factDivider(),
                        subtask::checkNotCancelled);
        return created;
    }

    private ProbeBackpressure backpressure() {
        return new ProbeBackpressure(
                state.probeLog(),
                inputs::ringsHaveRoom,
                () -> inputs.checkpoints().isAnnounced(ProbeBackpressure.MAX_WAIT_MS),
                new OutputRoom(subtask.environment()),
                inputs.senders(),
                inputs.factChannelCount(),
                subtask.task().getNumberOfParallelSubtasks());
    }

    private ProbeDeferral deferral() {
        if (!(engine.status() instanceof DividedEngine divided)) {
            return ProbeDeferral.NONE;
        }
        DeferredProbes deferred =
                new DeferredProbes(
                        divided.engine(),
                        state.probeLog(),
                        subtask.time(),
                        subtask.settings().engines().division().spillDelayMs(),
                        () -> created.postMail());
        engine.metrics().divided(divided, deferred::deferredBytes);
        return deferred;
    }

    private ResultPump createPump(ThrowingConsumer<Chunk, Exception> onChunkCompleted) {
        ResultEmitter<OUT> timed = new TimedEmitter<>(emitter, engine.counts().times());
        return subtask.spec().isAggregating()
                ? groupPump(timed, onChunkCompleted)
                : rowPump(timed, onChunkCompleted);
    }

    private ResultPump rowPump(
            ResultEmitter<OUT> timed, ThrowingConsumer<Chunk, Exception> onChunkCompleted) {
        FanOutMonitor fanOut =
                new FanOutMonitor(
                        subtask.name(),
                        subtask.spec(),
                        engine.counts().buildKeys(),
                        subtask.settings().reporting().fanOutWarning());
        engine.metrics().fanOut(fanOut);
        return new RowPump<>(
                engine.polls(),
                timed,
                output,
                onChunkCompleted,
                fanOut,
                subtask::checkNotCancelled);
    }

    private ResultPump groupPump(
            ResultEmitter<OUT> timed, ThrowingConsumer<Chunk, Exception> onChunkCompleted) {
        return new GroupPump<>(
                engine.engine(),
                engine.codes(),
                engine.polls(),
                timed,
                output,
                onChunkCompleted,
                subtask::checkNotCancelled,
                subtask.time(),
                subtask.settings().groupIntervalMs());
    }
}
