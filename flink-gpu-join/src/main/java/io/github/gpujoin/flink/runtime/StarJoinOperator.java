// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.emit.ResultEmitterFactory;
import io.github.gpujoin.flink.exchange.LoadMark;
import io.github.gpujoin.flink.exchange.ring.AnnouncedCheckpoints;
import io.github.gpujoin.flink.state.ExactlyOnce;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.runtime.event.WatermarkEvent;
import org.apache.flink.runtime.operators.coordination.OperatorEventGateway;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.BoundedMultiInput;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.api.operators.TwoInputStreamOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.LatencyMarker;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.util.IOUtils;

/**
 * Joins chunks of facts (input 2) with chunks of any number of dimensions (input 1). Versions of a
 * versioned dimension arrive with the facts. The operator forwards Flink's calls to the parts of
 * its {@link JoinSubtask}.
 *
 * <p>In {@link JoinPhase#LOAD} build chunks go to the log in state and to the engine, and facts
 * wait in state. Once {@link LoadProgress} reports all dimensions complete, or input 1 ends, the
 * engine builds its tables ({@link BuildInput}); then the phase ends. In {@link JoinPhase#JOIN}
 * facts go to the engine and results to the output ({@link ProbePath}). Changes of a {@linkplain
 * DimensionSpec#isChangelog() changelog dimension} go to the log and the engine, after the results
 * of all facts that the engine holds.
 *
 * <p>A snapshot holds the build log, the waiting facts and versions, and the in-flight facts with
 * the number of their emitted rows. Before a barrier the operator emits results of in-flight facts
 * for at most about {@value ProbePath#MAIL_MS} ms. Only an aggregating engine is drained, since its
 * groups are emitted before the barrier. A restore rebuilds the engine's tables from the log.
 *
 * <p>Runs in the task's mailbox thread.
 */
public final class StarJoinOperator<OUT> extends AbstractStreamOperator<OUT>
        implements TwoInputStreamOperator<Chunk, Chunk, OUT>, BoundedMultiInput {

    private static final long serialVersionUID = 1L;

    private static final int BUILD_INPUT = 0;

    private final JoinSettings settings;
    private final ResultEmitterFactory<OUT> emitters;

    private final transient MailboxExecutor mailbox;
    private final transient OperatorEventGateway coordinator;

    private transient JoinSubtask<OUT> subtask;

    StarJoinOperator(
            StreamOperatorParameters<OUT> parameters,
            JoinSettings settings,
            ResultEmitterFactory<OUT> emitters) {
        super(parameters);
        this.settings = settings;
        this.emitters = emitters;
        this.mailbox = parameters.getMailboxExecutor();
        this.coordinator =
                parameters
                        .getOperatorEventDispatcher()
                        .getOperatorEventGateway(parameters.getStreamConfig().getOperatorID());
    }

    // ------------------------------------------------------------------ life cycle

    @Override
    public void initializeState(StateInitializationContext context) throws Exception {
        super.initializeState(context);
        ExactlyOnce.requireAtStart(getContainingTask().getEnvironment().getJobConfiguration());
        subtask =
                new JoinSubtask<>(
                        new SubtaskContext(
                                this, getOperatorName(), mailbox, coordinator, settings));
        subtask.open(context, output, emitters);
    }

    @Override
    public void open() throws Exception {
        super.open();
        subtask.checkpoints().start();
    }

    @Override
    public void prepareSnapshotPreBarrier(long checkpointId) throws Exception {
        subtask.flush();
    }

    @Override
    public void snapshotState(StateSnapshotContext context) throws Exception {
        super.snapshotState(context);
        ExactlyOnce.declineUnaligned(
                getContainingTask().getEnvironment(), context.getCheckpointId());
        subtask.checkpoints().ended(context.getCheckpointId());
        subtask.snapshot();
    }

    @Override
    public void notifyCheckpointAborted(long checkpointId) throws Exception {
        super.notifyCheckpointAborted(checkpointId);
        subtask.checkpoints().ended(checkpointId);
    }

    @Override
    public void endInput(int inputId) throws Exception {
        if (inputId - 1 == BUILD_INPUT) {
            subtask.build().endInput();
        } else {
            subtask.probes().endInput();
        }
    }

    @Override
    public void finish() throws Exception {
        subtask.finish();
        super.finish();
    }

    @Override
    public void close() throws Exception {
        IOUtils.closeAll(subtask, super::close);
    }

    AnnouncedCheckpoints checkpoints() {
        return subtask.checkpoints();
    }

    /** Whether tables are being built in mails. */
    boolean isBuilding() {
        return subtask.build().isBuilding();
    }

    // ------------------------------------------------------------------ build side

    @Override
    public void processElement1(StreamRecord<Chunk> element) throws Exception {
        Chunk sent = element.getValue();
        if (LoadMark.isMark(sent)) {
            subtask.rows().received(sent);
            subtask.build().accept(LoadMark.of(sent));
        } else {
            subtask.build().accept(subtask.receiveBuild(sent));
        }
    }

    @Override
    public void processWatermark1(Watermark mark) throws Exception {
        subtask.build().accept(mark);
    }

    // ------------------------------------------------------------------ probe side

    @Override
    public void processElement2(StreamRecord<Chunk> element) throws Exception {
        subtask.probes().accept(subtask.receiveProbe(element.getValue()));
    }

    @Override
    public void processWatermark2(Watermark mark) throws Exception {
        subtask.probes().accept(mark);
    }

    @Override
    public void processWatermark2(WatermarkEvent mark) throws Exception {
        subtask.probes().acceptOther(new WatermarkElement(mark));
    }

    @Override
    public void processLatencyMarker2(LatencyMarker marker) throws Exception {
        latencyStats.reportLatency(marker);
        subtask.probes().acceptOther(marker);
    }

    /** Forwards idleness of facts in order. A {@link LoadMark} carries that of the build side. */
    @Override
    protected void processWatermarkStatus(WatermarkStatus status, int index) throws Exception {
        if (index != BUILD_INPUT) {
            subtask.probes().accept(status);
        }
    }

    // ------------------------------------------------------------------ keys

    /** Does nothing: a broadcast chunk has no key, so code that accesses state sets the key. */
    @Override
    public void setKeyContextElement1(StreamRecord record) {}

    @Override
    public void setKeyContextElement2(StreamRecord record) {}
}
