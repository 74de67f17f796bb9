package io.github.gpujoin.flink.pipeline;

import io.github.gpujoin.core.layout.Chunk;
import org.apache.flink.api.common.state.BroadcastState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.typeutils.base.BooleanSerializer;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;

/**
 * Tells the join when a dimension is complete: turns the dimension's watermarks into silence before
 * the given one and a {@link Signal} from there on. The join takes the minimum over all dimensions,
 * so each may be complete at a time of its own.
 *
 * <p>That a dimension is complete is kept in state and said again after a restore, as its source
 * may never repeat the watermark.
 */
final class LoadCompletion extends AbstractStreamOperator<Chunk>
        implements OneInputStreamOperator<Chunk, Chunk> {

    /** In place of a watermark: complete, to be changed afterwards, without waiting for any. */
    static final long FROM_THE_START = Long.MIN_VALUE;

    /** How a dimension says that it is complete. */
    enum Signal {
        /**
         * By the largest watermark, which makes the join start when all dimensions have said so.
         */
        LARGEST_WATERMARK,
        /**
         * By idleness, where the join goes by the watermarks of another dimension: before it, there
         * are none.
         */
        IDLENESS
    }

    private static final long serialVersionUID = 1L;

    private static final String NAME = "load-complete";
    private static final Integer KEY = 0;

    private final long completeAtWatermark;
    private final Signal signal;
    private transient BroadcastState<Integer, Boolean> complete;

    LoadCompletion(long completeAtWatermark, Signal signal) {
        this.completeAtWatermark = completeAtWatermark;
        this.signal = signal;
    }

    private void signal() {
        switch (signal) {
            case LARGEST_WATERMARK -> output.emitWatermark(Watermark.MAX_WATERMARK);
            case IDLENESS -> output.emitWatermarkStatus(WatermarkStatus.IDLE);
        }
    }

    @Override
    public void initializeState(StateInitializationContext context) throws Exception {
        super.initializeState(context);
        complete =
                context.getOperatorStateStore()
                        .getBroadcastState(
                                new MapStateDescriptor<>(
                                        NAME, IntSerializer.INSTANCE, BooleanSerializer.INSTANCE));
    }

    @Override
    public void open() throws Exception {
        super.open();
        if (complete.contains(KEY) || completeAtWatermark == FROM_THE_START) {
            complete.put(KEY, true);
            // Not from here: a timer fires once the task runs and may emit.
            long nowMs = getProcessingTimeService().getCurrentProcessingTime();
            getProcessingTimeService().registerTimer(nowMs, at -> signal());
        }
    }

    @Override
    public void processElement(StreamRecord<Chunk> element) {
        output.collect(element);
    }

    @Override
    public void processWatermark(Watermark mark) throws Exception {
        if (mark.getTimestamp() >= completeAtWatermark && !complete.contains(KEY)) {
            complete.put(KEY, true);
            signal();
        }
    }

    /** An idle dimension is not a complete one: silence must hold the join back. */
    @Override
    public void processWatermarkStatus(WatermarkStatus status) {}
}
