// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import io.github.gpujoin.core.layout.Chunk;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;

/**
 * Forwards only the end of its input to the log of replicated dimensions, so that the log does not
 * end before its input. The input is a packer of facts, of versions or of the partitioned
 * dimension. The operator emits the largest watermark at the start.
 */
final class EndOfInputForwarder extends AbstractStreamOperator<Chunk>
        implements OneInputStreamOperator<Chunk, Chunk> {

    private static final long serialVersionUID = 1L;

    @Override
    public void open() throws Exception {
        super.open();
        // Only a running task may emit; a timer fires once the task runs.
        long nowMs = getProcessingTimeService().getCurrentProcessingTime();
        getProcessingTimeService()
                .registerTimer(nowMs, at -> output.emitWatermark(Watermark.MAX_WATERMARK));
    }

    @Override
    public void processElement(StreamRecord<Chunk> element) {
        throw new IllegalStateException(
                "Unexpected chunk on the edge from a packer to the log of replicated dimensions: chunk="
                        + element.getValue());
    }

    @Override
    public void processWatermark(Watermark mark) {}

    @Override
    public void processWatermarkStatus(WatermarkStatus status) {}
}
