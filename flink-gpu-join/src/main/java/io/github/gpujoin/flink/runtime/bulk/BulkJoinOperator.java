// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.bulk;

import io.github.gpujoin.core.bulk.BulkJoinState;
import io.github.gpujoin.core.bulk.BulkResult;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.emit.BulkResultEmitter;
import io.github.gpujoin.flink.emit.ResultEmitter;
import io.github.gpujoin.flink.emit.ResultEmitterFactory;
import io.github.gpujoin.flink.engine.BulkJoinOpener;
import io.github.gpujoin.flink.pack.ExecutionMode;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.BoundedMultiInput;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.api.operators.TwoInputStreamOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.util.IOUtils;

/**
 * Joins chunks of a build side (input 1) and a probe side (input 2) in batch mode. Chunks go to a
 * {@link BulkJoin} in the order of their arrival; once both inputs have ended, its results are
 * emitted.
 *
 * <p>The operator has no state. If its task fails, Flink discards what the attempt has emitted, and
 * another attempt reads both inputs again.
 *
 * <p>Runs in the task's mailbox thread. Cancellation interrupts the thread, which ends each wait.
 */
public final class BulkJoinOperator<OUT> extends AbstractStreamOperator<OUT>
        implements TwoInputStreamOperator<Chunk, Chunk, OUT>, BoundedMultiInput {

    private static final long serialVersionUID = 1L;

    private static final int BUILD_INPUT = 1;
    private static final long POLL_NS = TimeUnit.MILLISECONDS.toNanos(10);

    private final BulkJoinSettings settings;
    private final ResultEmitterFactory<OUT> emitters;
    private final transient MailboxExecutor mailbox;
    private final transient Set<JoinSide> ended = EnumSet.noneOf(JoinSide.class);
    private final transient Map<JoinSide, NullKeyRows> nullKeyRows = new EnumMap<>(JoinSide.class);

    /** Null unless open, as the emitter is. */
    private transient BulkJoinOpener.Opened opened;

    private transient BulkJoinMetrics joinMetrics;

    private transient BulkResultEmitter<OUT> emitter;

    BulkJoinOperator(
            StreamOperatorParameters<OUT> parameters,
            BulkJoinSettings settings,
            ResultEmitterFactory<OUT> emitters) {
        super(parameters);
        this.settings = settings;
        this.emitters = emitters;
        this.mailbox = parameters.getMailboxExecutor();
    }

    @Override
    public void open() throws Exception {
        super.open();
        Environment task = getContainingTask().getEnvironment();
        ExecutionMode.requireBatchAtStart(task);
        for (JoinSide side : JoinSide.values()) {
            nullKeyRows.put(side, settings.nullKeyRows(side));
        }
        ResultEmitter<OUT> results = emitters.create(getRuntimeContext());
        emitter = new BulkResultEmitter<>(settings.spec(), settings.bulk(), results, output);
        opened =
                settings.joins()
                        .open(settings.bulk(), task, getOperatorConfig(), getRuntimeContext());
        joinMetrics =
                new BulkJoinMetrics(getMetricGroup(), settings.metrics(), settings.bulk(), opened);
    }

    @Override
    public void processElement1(StreamRecord<Chunk> element) throws Exception {
        submit(JoinSide.RIGHT, element.getValue());
    }

    @Override
    public void processElement2(StreamRecord<Chunk> element) throws Exception {
        submit(JoinSide.LEFT, element.getValue());
    }

    private void submit(JoinSide side, Chunk chunk) throws Exception {
        joinMetrics.received(side, chunk);
        try {
            NullKeyRows nulls = nullKeyRows.get(side);
            int nullCount = nulls.count(chunk);
            if (nullCount == 0) {
                opened.join().submit(side, chunk);
                return;
            }
            emitter.emitOneSided(side, nulls.select(chunk, true));
            joinMetrics.emittedNullKeys(nullCount);
            if (nullCount < chunk.rowCount()) {
                opened.join().submit(side, nulls.select(chunk, false));
            }
        } finally {
            chunk.release();
        }
    }

    @Override
    public void endInput(int inputId) throws Exception {
        ended.add(inputId == BUILD_INPUT ? JoinSide.RIGHT : JoinSide.LEFT);
        if (ended.size() == JoinSide.values().length
                && opened.join().state() == BulkJoinState.LOADING) {
            opened.finish();
            emitResults();
        }
    }

    private void emitResults() throws Exception {
        while (opened.join().state() != BulkJoinState.DONE) {
            BulkResult result = opened.join().poll(POLL_NS);
            if (result != null) {
                emitter.emit(result);
            }
            // Timers of operators in the same chain are due meanwhile.
            while (mailbox.tryYield()) {}
        }
        emitter.flush();
        // Flink drops a watermark of an idle stream.
        output.emitWatermarkStatus(WatermarkStatus.ACTIVE);
        output.emitWatermark(Watermark.MAX_WATERMARK);
    }

    /**
     * Holds the largest watermark, which arrives before the end of an input, behind the results.
     */
    @Override
    public void processWatermark(Watermark mark) throws Exception {
        if (mark.getTimestamp() != Long.MAX_VALUE) {
            super.processWatermark(mark);
        }
    }

    @Override
    public void close() throws Exception {
        IOUtils.closeAll(opened, emitter, super::close);
    }
}
