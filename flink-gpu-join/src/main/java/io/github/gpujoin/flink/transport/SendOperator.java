package io.github.gpujoin.flink.transport;

import io.github.gpujoin.core.layout.Chunk;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.flink.metrics.Counter;
import org.apache.flink.runtime.execution.CancelTaskException;
import org.apache.flink.runtime.operators.coordination.OperatorEvent;
import org.apache.flink.runtime.operators.coordination.OperatorEventHandler;
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
final class SendOperator extends AbstractStreamOperator<Chunk>
        implements OneInputStreamOperator<Chunk, Chunk>, OperatorEventHandler {

    private static final long serialVersionUID = 1L;

    private static final long LOOK_AGAIN_NS = TimeUnit.MILLISECONDS.toNanos(1);

    private final RingOptions options;
    private final JoinInput input;

    private transient RingSender rings;
    private transient Counter chunksThroughRings;
    private transient Counter chunksInline;
    private final transient StreamRecord<Chunk> element = new StreamRecord<>(null);

    SendOperator(StreamOperatorParameters<Chunk> parameters, RingOptions options, JoinInput input) {
        super(parameters);
        this.options = options;
        this.input = input;
    }

    @Override
    public void open() throws Exception {
        super.open();
        chunksThroughRings = getMetricGroup().counter("chunksThroughRings");
        chunksInline = getMetricGroup().counter("chunksInline");
        if (options.usesRings()) {
            rings =
                    new RingSender(
                            options,
                            input,
                            getRuntimeContext().getJobInfo(),
                            getRuntimeContext().getTaskInfo(),
                            getContainingTask()
                                    .getEnvironment()
                                    .getTaskManagerInfo()
                                    .getConfiguration());
            RingSender opened = rings;
            getMetricGroup().gauge("openRings", opened::openRings);
        }
    }

    @Override
    public void handleOperatorEvent(OperatorEvent event) {
        if (!(event instanceof WriterAddresses addresses)) {
            throw new IllegalArgumentException("a sender is told addresses alone: event=" + event);
        }
        if (rings == null) {
            return; // the input ended before the join was there
        }
        try {
            rings.connect(addresses);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void processElement(StreamRecord<Chunk> record) throws Exception {
        Chunk chunk = record.getValue();
        Chunk sent = rings == null ? chunk : rings.send(chunk);
        (sent == chunk ? chunksInline : chunksThroughRings).inc();
        output.collect(element.replace(sent));
    }

    /** What the join has not taken may have to be sent again. */
    @Override
    public void finish() throws Exception {
        while (rings != null && !rings.isDrained()) {
            if (getContainingTask().isCanceled()) {
                throw new CancelTaskException("the task was cancelled while its rings drained");
            }
            LockSupport.parkNanos(LOOK_AGAIN_NS);
        }
        closeRings();
        super.finish();
    }

    @Override
    public void close() throws Exception {
        IOUtils.closeAll(this::closeRings, super::close);
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
