// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.symmetric;

import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.symmetric.MatchCondition;
import io.github.gpujoin.core.symmetric.SymmetricInput;
import io.github.gpujoin.flink.engine.SymmetricJoinOpener;
import io.github.gpujoin.flink.exchange.RowCounts;
import io.github.gpujoin.flink.state.ExactlyOnce;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.runtime.execution.CancelTaskException;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.api.operators.TwoInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.IOUtils;
import org.jspecify.annotations.Nullable;

/**
 * Joins chunks of a left input (input 1) and a right one (input 2), which both go on. Each chunk
 * has the rows of one radix partition. The operator forwards Flink's calls to its {@link
 * SymmetricSubtask}.
 *
 * <p>State is the log of each input, from which a restore builds the tables, and the chunks that
 * were not joined before the snapshot. Flink combines watermarks and statuses of both inputs; they
 * follow the results of all chunks that arrived before them.
 *
 * <p>Runs in the task's mailbox thread.
 */
public final class SymmetricJoinOperator<OUT> extends AbstractStreamOperator<OUT>
        implements TwoInputStreamOperator<Chunk, Chunk, OUT> {

    private static final long serialVersionUID = 1L;

    /** Rows expire late by up to this part of their time to live. */
    private static final int TICKS_IN_TTL = 10;

    private static final long MIN_TICK_MS = 100;

    private final SymmetricJoinSettings settings;
    private final SymmetricResultEmitter.Factory<OUT> emitters;
    private final transient MailboxExecutor mailbox;

    private transient @Nullable RowPairCondition condition;
    private transient SymmetricJoinOpener.@Nullable Opened opened;
    private transient @Nullable PartitionTables tables;
    private transient SymmetricSubtask<OUT> subtask;
    private transient RowCounts rows;

    SymmetricJoinOperator(
            StreamOperatorParameters<OUT> parameters,
            SymmetricJoinSettings settings,
            SymmetricResultEmitter.Factory<OUT> emitters) {
        super(parameters);
        this.settings = settings;
        this.emitters = emitters;
        this.mailbox = parameters.getMailboxExecutor();
    }

    // ------------------------------------------------------------------ life cycle

    @Override
    public void initializeState(StateInitializationContext context) throws Exception {
        super.initializeState(context);
        ExactlyOnce.requireAtStart(getContainingTask().getEnvironment().getJobConfiguration());
        rows = new RowCounts(this);
        SymmetricState state =
                new SymmetricState(
                        context, settings, getRuntimeContext().getTaskInfo(), this::setCurrentKey);
        opened =
                settings.joins()
                        .open(
                                settings.spec(),
                                matches(),
                                getContainingTask().getEnvironment(),
                                getOperatorConfig());
        tables = new PartitionTables(getOperatorName(), opened, state, this::checkNotCancelled);
        subtask =
                new SymmetricSubtask<>(
                        tables,
                        settings.spillDelayMs(),
                        state,
                        emitters.create(rows),
                        output,
                        new SymmetricJoinMetrics(getMetricGroup(), opened.name(), state.bytes()),
                        getProcessingTimeService(),
                        mailbox,
                        this::checkNotCancelled);
        output = new QueuedOutput<>(output, subtask::accept);
        subtask.restore();
    }

    private MatchCondition matches() throws Exception {
        if (settings.condition() == null) {
            return MatchCondition.ALWAYS;
        }
        condition = settings.condition().open(getRuntimeContext());
        return new RowMatchCondition(condition, settings.leftColumns(), settings.rightColumns());
    }

    private void checkNotCancelled() {
        if (getContainingTask().isCanceled()) {
            throw new CancelTaskException("The task was cancelled while it joined.");
        }
    }

    @Override
    public void open() throws Exception {
        super.open();
        long ttlMs =
                Math.min(
                        settings.spec().left().timeToLiveMs(),
                        settings.spec().right().timeToLiveMs());
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
        ExactlyOnce.declineUnaligned(
                getContainingTask().getEnvironment(), context.getCheckpointId());
        subtask.snapshot();
    }

    @Override
    public void finish() throws Exception {
        subtask.finish();
        super.finish();
    }

    @Override
    public void close() throws Exception {
        IOUtils.closeAll(tables, opened, condition, super::close);
    }

    // ------------------------------------------------------------------ inputs

    @Override
    public void processElement1(StreamRecord<Chunk> element) throws Exception {
        accept(JoinSide.LEFT, element.getValue());
    }

    @Override
    public void processElement2(StreamRecord<Chunk> element) throws Exception {
        accept(JoinSide.RIGHT, element.getValue());
    }

    private void accept(JoinSide side, Chunk chunk) throws Exception {
        rows.received(chunk);
        subtask.accept(side, chunk);
    }

    /** Does nothing: code that accesses state sets the key of the partition. */
    @Override
    public void setKeyContextElement1(StreamRecord record) {}

    @Override
    public void setKeyContextElement2(StreamRecord record) {}
}
