// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.core.engine.EngineState;
import io.github.gpujoin.core.engine.GroupCodes;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.emit.ResultEmitter;
import java.util.ArrayDeque;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.runtime.streamrecord.StreamElement;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.tasks.ProcessingTimeService;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.util.function.ThrowingConsumer;
import org.apache.flink.util.function.ThrowingRunnable;

/**
 * Emits groups of an aggregating engine: partial sums, which a downstream operator adds up.
 *
 * <p>Groups are emitted before every barrier, with no probe in flight. So no group is in state, and
 * each fact is in exactly one group, before or after the barrier. Groups are also emitted when the
 * engine is full, at the end, and before a watermark. The last happens at most once in an interval,
 * since it may emit all groups; watermarks wait for it.
 */
final class GroupPump<OUT> implements ResultPump {

    private final JoinEngine engine;
    private final GroupCodes codes;
    private final EnginePolls polls;
    private final ResultEmitter<OUT> emitter;
    private final Output<StreamRecord<OUT>> output;
    private final ThrowingConsumer<Chunk, Exception> onChunkCompleted;
    private final ThrowingRunnable<Exception> checkNotCancelled;
    private final ProcessingTimeService time;
    private final long intervalMs;
    private final ArrayDeque<StreamElement> held = new ArrayDeque<>();
    private long lastEmittedMs;
    private boolean timerRuns;

    /**
     * @param codes of the engine's text groups
     * @param checkNotCancelled throws if the task has been cancelled
     * @param intervalMs least time between two emissions for watermarks
     */
    GroupPump(
            JoinEngine engine,
            GroupCodes codes,
            EnginePolls polls,
            ResultEmitter<OUT> emitter,
            Output<StreamRecord<OUT>> output,
            ThrowingConsumer<Chunk, Exception> onChunkCompleted,
            ThrowingRunnable<Exception> checkNotCancelled,
            ProcessingTimeService time,
            long intervalMs) {
        this.engine = engine;
        this.codes = codes;
        this.polls = polls;
        this.emitter = emitter;
        this.output = output;
        this.onChunkCompleted = onChunkCompleted;
        this.checkNotCancelled = checkNotCancelled;
        this.time = time;
        this.intervalMs = intervalMs;
        this.lastEmittedMs = time.getCurrentProcessingTime() - intervalMs;
    }

    @Override
    public boolean emitNext() throws Exception {
        ResultBatch batch = polls.poll();
        if (batch == null) {
            boolean isFull = engine.awaitsDrain();
            if (isFull) {
                emitGroups();
            }
            return isFull;
        }
        if (batch.isLast()) {
            onChunkCompleted.accept(batch.chunk());
        }
        return true;
    }

    private void emitGroups() throws Exception {
        emitter.emit(codes.decode(engine.drainGroups()), output);
    }

    @Override
    public void flushEmitter() {}

    /**
     * Holds the element until the next emission. Before the build side is complete, it emits the
     * element at once. The status ACTIVE precedes the groups of the facts that follow it.
     */
    @Override
    public void pass(StreamElement element) {
        boolean activates = held.isEmpty() && element.equals(WatermarkStatus.ACTIVE);
        if (activates || engine.state() != EngineState.JOINING) {
            ResultPump.emit(element, output);
            return;
        }
        if (!held.isEmpty() && held.peekLast().isWatermark() && element.isWatermark()) {
            held.removeLast();
        }
        held.add(element);
        if (!timerRuns) {
            timerRuns = true;
            time.registerTimer(lastEmittedMs + intervalMs, now -> onTimer());
        }
    }

    private void onTimer() throws Exception {
        timerRuns = false;
        if (!held.isEmpty()) {
            beforeBarrier();
        }
    }

    /** Waits for the in-flight probes, and emits. */
    @Override
    public void beforeBarrier() throws Exception {
        while (engine.inFlightCount() > 0) {
            if (!emitNext()) {
                checkNotCancelled.run();
                Thread.onSpinWait();
            }
        }
        emitGroups();
        lastEmittedMs = time.getCurrentProcessingTime();
        while (!held.isEmpty()) {
            ResultPump.emit(held.remove(), output);
        }
    }
}
