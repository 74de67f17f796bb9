// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.exchange.LoadMark;
import io.github.gpujoin.flink.exchange.RowCounts;
import io.github.gpujoin.flink.exchange.backpressure.HoldableOutput;
import io.github.gpujoin.rdma.session.SessionException;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.metrics.Counter;
import org.apache.flink.runtime.event.WatermarkEvent;
import org.apache.flink.runtime.execution.CancelTaskException;
import org.apache.flink.runtime.metrics.TimerGauge;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.util.IOUtils;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends chunks to the subtasks of their partitions: payload through rings, tickets through Flink's
 * channels. Without rings it forwards chunks. It is in the job with every transport, so that a
 * savepoint can be restored with another one.
 *
 * <p>The operator has no state: the join receives all chunks before a barrier before it writes its
 * own snapshot.
 */
final class RingSendOperator extends AbstractStreamOperator<Chunk>
        implements OneInputStreamOperator<Chunk, Chunk> {

    private static final Logger LOG = LoggerFactory.getLogger(RingSendOperator.class);

    private static final long serialVersionUID = 1L;

    private static final long POLL_INTERVAL_NS = TimeUnit.MILLISECONDS.toNanos(1);

    private final RingOptions options;
    private final JoinSide side;
    private final transient Coordinator coordinator;
    private final transient MailboxExecutor mailbox;

    private transient long openDeadlineNs;
    private transient boolean isFirstChunk;
    private transient @Nullable RingSender rings;
    private transient RowCounts rows;
    private transient @Nullable HoldableOutput<StreamRecord<Chunk>> holdable;
    private transient TimerGauge backPressured;
    private transient Counter chunksThroughRings;
    private transient Counter chunksInline;
    private transient Counter bytesThroughRings;

    /** Whether a mail will flush the rings. */
    private transient boolean flushIsDue;

    private final transient StreamRecord<Chunk> element = new StreamRecord<>(null);

    RingSendOperator(
            StreamOperatorParameters<Chunk> parameters,
            RingOptions options,
            JoinSide side,
            Coordinator coordinator) {
        super(parameters);
        this.options = options;
        this.side = side;
        this.coordinator = coordinator;
        this.mailbox = parameters.getMailboxExecutor();
    }

    @Override
    public void open() throws Exception {
        super.open();
        rows = new RowCounts(this);
        if (side == JoinSide.PROBE) {
            holdable =
                    HoldableOutput.of(
                            output,
                            getOperatorConfig(),
                            getContainingTask().getEnvironment(),
                            getUserCodeClassloader());
            output = holdable;
        }
        backPressured =
                getContainingTask()
                        .getEnvironment()
                        .getMetricGroup()
                        .getIOMetricGroup()
                        .getHardBackPressuredTimePerSecond();
        chunksThroughRings = getMetricGroup().counter("chunksThroughRings");
        chunksInline = getMetricGroup().counter("chunksInline");
        bytesThroughRings = getMetricGroup().counter("bytesThroughRings");
        if (options.usesRings()) {
            rings =
                    new RingSender(
                            options,
                            side,
                            RingTask.of(getContainingTask().getEnvironment()),
                            coordinator,
                            this::emit);
            rings.countWaits(backPressured);
            RingSender opened = rings;
            getMetricGroup().gauge("openRings", opened::openRings);
            getMetricGroup().gauge("occupiedSlots", opened::occupiedSlots);
            getMetricGroup().gauge("credits", opened::credits);
            if (options.isShared()) {
                opened.sharedMetrics().register(getMetricGroup(), opened, options.payloadBytes());
            }
            openDeadlineNs =
                    System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(options.openTimeoutMs());
            isFirstChunk = true;
        }
    }

    @Override
    public void processElement(StreamRecord<Chunk> record) throws Exception {
        Chunk chunk = record.getValue();
        if (LoadMark.isMark(chunk)) {
            flush();
            output.collect(record);
            rows.received(chunk);
            rows.emitted(chunk);
            return;
        }
        if (isFirstChunk) {
            isFirstChunk = false;
            awaitRings();
        }
        rows.received(chunk);
        if (rings == null) {
            emit(chunk, chunk, 0);
        } else {
            rings.send(chunk);
            flushSoon();
        }
    }

    /** Emits a chunk or its ticket. */
    private void emit(Chunk chunk, Chunk sent, int slotBytes) {
        output.collect(element.replace(sent));
        if (sent == chunk) {
            chunksInline.inc();
            rows.emitted(chunk);
        } else {
            chunksThroughRings.inc();
            bytesThroughRings.inc(slotBytes);
            rows.emitted(chunk, sent, slotBytes);
        }
    }

    /**
     * Flushes after the current mail or record. A packer that flushes emits its chunks for all
     * subtasks at once, which then share slots without a wait for later ones.
     */
    private void flushSoon() {
        if (!flushIsDue && rings.holdsChunks()) {
            flushIsDue = true;
            mailbox.execute(
                    () -> {
                        flushIsDue = false;
                        flush();
                    },
                    "flush shared rings");
        }
    }

    private void flush() throws SessionException {
        if (rings != null) {
            rings.flush();
        }
    }

    @Override
    public void processWatermark(Watermark mark) throws Exception {
        flush();
        super.processWatermark(mark);
    }

    @Override
    public void processWatermark(WatermarkEvent watermark) throws Exception {
        flush();
        super.processWatermark(watermark);
    }

    @Override
    public void processWatermarkStatus(WatermarkStatus status) throws Exception {
        flush();
        super.processWatermarkStatus(status);
    }

    /**
     * Blocks the first chunk until all rings are open, or the open timeout expires. Otherwise a job
     * of a second or two would send all chunks through Flink's channels.
     *
     * <p>The wait blocks the mailbox, as a wait for one of Flink's buffers does. Processing mails
     * here would let a barrier overtake the current record. The wait cannot deadlock: the join
     * opens its rings before it reads input, and the agent's thread connects them.
     */
    private void awaitRings() throws IOException {
        boolean opened;
        while (!(opened = rings.areAllOpen()) && System.nanoTime() - openDeadlineNs < 0) {
            sleepUnlessCancelled("it waited for its rings to open.");
        }
        if (!opened && options.openTimeoutMs() > 0) {
            LOG.warn(
                    "Not all rings opened in time. Chunks of the others go through Flink's channels:"
                            + " transport={}, timeoutMs={}, open={}, lastLoss={}, task={}",
                    options.transport(),
                    options.openTimeoutMs(),
                    rings.openRings(),
                    rings.lastLoss(),
                    getRuntimeContext().getTaskInfo().getTaskNameWithSubtasks());
        }
    }

    private void sleepUnlessCancelled(String doing) {
        if (getContainingTask().isCanceled() || Thread.currentThread().isInterrupted()) {
            throw new CancelTaskException("The task was cancelled while " + doing);
        }
        backPressured.markStart();
        LockSupport.parkNanos(POLL_INTERVAL_NS);
        backPressured.markEnd();
    }

    @Override
    public void prepareSnapshotPreBarrier(long checkpointId) throws Exception {
        super.prepareSnapshotPreBarrier(checkpointId);
        if (holdable != null) {
            holdable.emitBeforeBarrier(checkpointId, this::flush);
        } else {
            flush();
        }
    }

    /** Waits until the join has received all chunks, since a lost one must be retransmitted. */
    @Override
    public void finish() throws Exception {
        flush();
        while (rings != null && !rings.isDrained()) {
            sleepUnlessCancelled("it drained its rings.");
        }
        closeRings();
        super.finish();
    }

    @Override
    public void close() throws Exception {
        IOUtils.closeAll(
                this::closeRings, holdable == null ? null : holdable::release, super::close);
    }

    private void closeRings() throws Exception {
        if (rings != null) {
            LOG.info(
                    "Rings closed: transport={}, chunksThroughRings={}, chunksInline={}{}, task={}",
                    options.transport(),
                    chunksThroughRings.getCount(),
                    chunksInline.getCount(),
                    options.isShared() ? ", " + rings.sharedMetrics() : "",
                    getRuntimeContext().getTaskInfo().getTaskNameWithSubtasks());
            rings.close();
            rings = null;
        }
    }
}
