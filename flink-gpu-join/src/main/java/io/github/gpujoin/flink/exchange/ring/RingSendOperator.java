package io.github.gpujoin.flink.exchange.ring;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.exchange.LoadMark;
import io.github.gpujoin.flink.exchange.RowCounts;
import io.github.gpujoin.flink.exchange.backpressure.HoldableOutput;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.flink.metrics.Counter;
import org.apache.flink.runtime.execution.CancelTaskException;
import org.apache.flink.runtime.metrics.TimerGauge;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.IOUtils;

/**
 * Stands before an edge that sends chunks to the subtask of their partition, and puts their payload
 * into rings. Without rings it passes chunks on; it is there all the same, so that a savepoint is
 * restored whatever the transport.
 *
 * <p>It has no state: the join takes what comes before a barrier before it takes its own snapshot.
 */
final class RingSendOperator extends AbstractStreamOperator<Chunk>
        implements OneInputStreamOperator<Chunk, Chunk> {

    private static final long serialVersionUID = 1L;

    private static final long LOOK_AGAIN_NS = TimeUnit.MILLISECONDS.toNanos(1);

    private final RingOptions options;
    private final JoinSide side;
    private final transient Coordinator coordinator;

    private transient long openDeadlineNs;
    private transient boolean holdsFirstChunk;
    private transient RingSender rings;
    private transient RowCounts rows;
    private transient HoldableOutput<StreamRecord<Chunk>> holdable;
    private transient TimerGauge backPressured;
    private transient Counter chunksThroughRings;
    private transient Counter chunksInline;
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
        if (options.usesRings()) {
            rings =
                    new RingSender(
                            options,
                            side,
                            getRuntimeContext().getJobInfo(),
                            getRuntimeContext().getTaskInfo(),
                            getContainingTask()
                                    .getEnvironment()
                                    .getTaskManagerInfo()
                                    .getConfiguration(),
                            coordinator);
            rings.countWaits(backPressured);
            RingSender opened = rings;
            getMetricGroup().gauge("openRings", opened::openRings);
            getMetricGroup().gauge("occupiedSlots", opened::occupiedSlots);
            getMetricGroup().gauge("credits", opened::credits);
            openDeadlineNs =
                    System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(options.openTimeoutMs());
            holdsFirstChunk = true;
        }
    }

    @Override
    public void processElement(StreamRecord<Chunk> record) throws Exception {
        if (LoadMark.isMark(record.getValue())) {
            Chunk mark = record.getValue();
            output.collect(record);
            rows.received(mark);
            rows.emitted(mark);
            return;
        }
        if (holdsFirstChunk) {
            holdsFirstChunk = false;
            awaitRings();
        }
        Chunk chunk = record.getValue();
        Chunk sent = rings == null ? chunk : rings.send(chunk);
        (sent == chunk ? chunksInline : chunksThroughRings).inc();
        output.collect(element.replace(sent));
        rows.received(chunk);
        rows.emitted(chunk, sent);
    }

    /**
     * Holds the first chunk back until all rings are open, or their time is up: else a job of a
     * second or two would send everything inline.
     *
     * <p>The mailbox stands still meanwhile, as it does where Flink has no buffer for a record. To
     * yield to it here would let a barrier pass the record that the chain is in the midst of. Nor
     * can the wait lock up: the join opens its rings before it takes anything, and the agent's
     * thread connects them.
     */
    private void awaitRings() throws IOException {
        boolean opened;
        while (!(opened = rings.areAllOpen()) && System.nanoTime() - openDeadlineNs < 0) {
            sleepUnlessCancelled("it waited for its rings to open");
        }
        if (!opened && options.openTimeoutMs() > 0) {
            LOG.warn(
                    "Not all rings opened in time; chunks go through Flink's channels while one is"
                            + " not: transport={}, timeoutMs={}, open={}, lastLoss={}, task={}",
                    options.transport(),
                    options.openTimeoutMs(),
                    rings.openRings(),
                    rings.lastLoss(),
                    getRuntimeContext().getTaskInfo().getTaskNameWithSubtasks());
        }
    }

    private void sleepUnlessCancelled(String doing) {
        if (getContainingTask().isCanceled() || Thread.currentThread().isInterrupted()) {
            throw new CancelTaskException("the task was cancelled while " + doing);
        }
        backPressured.markStart();
        LockSupport.parkNanos(LOOK_AGAIN_NS);
        backPressured.markEnd();
    }

    @Override
    public void prepareSnapshotPreBarrier(long checkpointId) throws Exception {
        super.prepareSnapshotPreBarrier(checkpointId);
        if (holdable != null) {
            holdable.emitBeforeBarrier(checkpointId, () -> {});
        }
    }

    /** What the join has not taken may have to be sent again. */
    @Override
    public void finish() throws Exception {
        while (rings != null && !rings.isDrained()) {
            sleepUnlessCancelled("its rings drained");
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
                    "Rings closed: transport={}, chunksThroughRings={}, chunksInline={}, task={}",
                    options.transport(),
                    chunksThroughRings.getCount(),
                    chunksInline.getCount(),
                    getRuntimeContext().getTaskInfo().getTaskNameWithSubtasks());
            rings.close();
            rings = null;
        }
    }
}
