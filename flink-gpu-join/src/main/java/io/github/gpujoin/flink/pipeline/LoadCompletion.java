package io.github.gpujoin.flink.pipeline;

import io.github.gpujoin.core.layout.Chunk;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;

/**
 * Tells the join when a dimension is complete: turns the dimension's watermarks into silence before
 * the given one and the largest watermark from there on. The join takes the minimum over all
 * dimensions, so each may be complete at a time of its own.
 */
final class LoadCompletion extends AbstractStreamOperator<Chunk>
        implements OneInputStreamOperator<Chunk, Chunk> {

    private static final long serialVersionUID = 1L;

    private final long completeAtWatermark;
    private transient boolean complete;

    LoadCompletion(long completeAtWatermark) {
        this.completeAtWatermark = completeAtWatermark;
    }

    @Override
    public void processElement(StreamRecord<Chunk> element) {
        output.collect(element);
    }

    @Override
    public void processWatermark(Watermark mark) {
        if (!complete && mark.getTimestamp() >= completeAtWatermark) {
            complete = true;
            output.emitWatermark(Watermark.MAX_WATERMARK);
        }
    }

    /** An idle dimension is not a complete one: silence must hold the join back. */
    @Override
    public void processWatermarkStatus(WatermarkStatus status) {}
}
