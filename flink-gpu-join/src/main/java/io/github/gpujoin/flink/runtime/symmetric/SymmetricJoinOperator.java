// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.symmetric;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.symmetric.SymmetricInput;
import io.github.gpujoin.flink.engine.SymmetricJoinOpener;
import io.github.gpujoin.flink.exchange.RowCounts;
import io.github.gpujoin.flink.state.ExactlyOnce;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.flink.runtime.execution.CancelTaskException;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.streaming.api.operators.AbstractInput;
import org.apache.flink.streaming.api.operators.AbstractStreamOperatorV2;
import org.apache.flink.streaming.api.operators.Input;
import org.apache.flink.streaming.api.operators.MultipleInputStreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.IOUtils;
import org.jspecify.annotations.Nullable;

/**
 * Joins chunks of two or more inputs, which all go on. Each chunk has the rows of one radix
 * partition. The operator forwards Flink's calls to its {@link SymmetricSubtask}.
 *
 * <p>State is the log of each input, from which a restore builds the tables, and the chunks that
 * were not joined before the snapshot. Flink combines watermarks and statuses of all inputs; they
 * follow the results of all chunks that arrived before them.
 *
 * <p>Runs in the task's mailbox thread.
 */
public final class SymmetricJoinOperator<OUT> extends AbstractStreamOperatorV2<OUT>
        implements MultipleInputStreamOperator<OUT> {

    /** Rows expire late by up to this part of their time to live. */
    private static final int TICKS_IN_TTL = 10;

    private static final long MIN_TICK_MS = 100;

    private final StreamOperatorParameters<OUT> parameters;
    private final SymmetricJoinSettings settings;
    private final SymmetricResultEmitter.Factory<OUT> emitters;

    @SuppressWarnings("rawtypes") // as Flink declares them
    private final List<Input> inputs = new ArrayList<>();

    private SymmetricJoinPlan.@Nullable Opened plan;
    private SymmetricJoinOpener.@Nullable Opened opened;
    private @Nullable PartitionTables tables;
    private SymmetricSubtask<OUT> subtask;
    private RowCounts rows;

    SymmetricJoinOperator(
            StreamOperatorParameters<OUT> parameters,
            SymmetricJoinSettings settings,
            SymmetricResultEmitter.Factory<OUT> emitters) {
        super(parameters, settings.plan().inputs().size(), QueuedOutput::new);
        this.parameters = parameters;
        this.settings = settings;
        this.emitters = emitters;
        for (int input = 0; input < settings.plan().inputs().size(); input++) {
            inputs.add(new ChunkInput<>(this, input));
        }
    }

    // ------------------------------------------------------------------ life cycle

    @Override
    public void initializeState(StateInitializationContext context) throws Exception {
        super.initializeState(context);
        ExactlyOnce.requireAtStart(task().getJobConfiguration());
        rows = new RowCounts(getMetricGroup(), getOperatorConfig(), task());
        SymmetricState state =
                new SymmetricState(
                        context, settings, getRuntimeContext().getTaskInfo(), this::setCurrentKey);
        plan = settings.plan().open(getRuntimeContext());
        opened =
                settings.joins()
                        .open(plan.creator(), task(), getOperatorConfig(), getRuntimeContext());
        tables = new PartitionTables(getOperatorName(), opened, state, this::checkNotCancelled);
        subtask =
                new SymmetricSubtask<>(
                        tables,
                        settings.spillDelayMs(),
                        state,
                        emitters.create(rows),
                        parameters.getOutput(),
                        new SymmetricJoinMetrics(
                                getMetricGroup(),
                                settings.plan().labels(),
                                opened::name,
                                state.bytes()),
                        getProcessingTimeService(),
                        parameters.getMailboxExecutor(),
                        this::checkNotCancelled);
        ((QueuedOutput<OUT>) output).queueIn(subtask::accept);
        subtask.restore();
    }

    private Environment task() {
        return parameters.getContainingTask().getEnvironment();
    }

    private void checkNotCancelled() {
        if (parameters.getContainingTask().isCanceled()) {
            throw new CancelTaskException("The task was cancelled while it joined.");
        }
    }

    @Override
    public void open() throws Exception {
        super.open();
        long ttlMs =
                settings.plan().inputs().stream()
                        .mapToLong(SymmetricInput::timeToLiveMs)
                        .min()
                        .orElse(SymmetricInput.FOREVER);
        if (ttlMs != SymmetricInput.FOREVER) {
            expireEvery(Math.max(MIN_TICK_MS, ttlMs / TICKS_IN_TTL));
        }
    }

    private void expireEvery(long intervalMs) {
        long nextMs = getProcessingTimeService().getCurrentProcessingTime() + intervalMs;
        getProcessingTimeService()
                .registerTimer(
                        nextMs,
                        now -> {
                            subtask.expire();
                            expireEvery(intervalMs);
                        });
    }

    @Override
    public void prepareSnapshotPreBarrier(long checkpointId) throws Exception {
        subtask.beforeBarrier();
    }

    @Override
    public void snapshotState(StateSnapshotContext context) throws Exception {
        super.snapshotState(context);
        ExactlyOnce.declineUnaligned(task(), context.getCheckpointId());
        subtask.snapshot();
    }

    @Override
    public void finish() throws Exception {
        subtask.finish();
        super.finish();
    }

    @Override
    public void close() throws Exception {
        IOUtils.closeAll(tables, opened, plan, super::close);
    }

    // ------------------------------------------------------------------ inputs

    @Override
    @SuppressWarnings("rawtypes")
    public List<Input> getInputs() {
        return Collections.unmodifiableList(inputs);
    }

    private static final class ChunkInput<OUT> extends AbstractInput<Chunk, OUT> {

        private final SymmetricJoinOperator<OUT> join;
        private final int input;

        ChunkInput(SymmetricJoinOperator<OUT> join, int input) {
            super(join, input + 1); // Flink counts inputs from 1.
            this.join = join;
            this.input = input;
        }

        @Override
        public void processElement(StreamRecord<Chunk> element) throws Exception {
            Chunk chunk = element.getValue();
            join.rows.received(chunk);
            join.subtask.accept(input, chunk);
        }

        /** Does nothing: code that accesses state sets the key of the partition. */
        @Override
        @SuppressWarnings("rawtypes")
        public void setKeyContextElement(StreamRecord record) {}
    }
}
