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
 * Connects a packer of facts, of versions or of the partitioned dimension with the log of
 * replicated dimensions: emits only the end of its input, which the log outlives. Its watermark is
 * the largest.
 */
final class EndOfInputForwarder extends AbstractStreamOperator<Chunk>
        implements OneInputStreamOperator<Chunk, Chunk> {

    private static final long serialVersionUID = 1L;

    @Override
    public void open() throws Exception {
        super.open();
        // Only a running task may emit. A timer fires once it runs.
        long nowMs = getProcessingTimeService().getCurrentProcessingTime();
        getProcessingTimeService()
                .registerTimer(nowMs, at -> output.emitWatermark(Watermark.MAX_WATERMARK));
    }

    @Override
    public void processElement(StreamRecord<Chunk> element) {
        throw new IllegalStateException(
                "Chunk on an edge without chunks, from a packer to the log of replicated dimensions.");
    }

    @Override
    public void processWatermark(Watermark mark) {}

    @Override
    public void processWatermarkStatus(WatermarkStatus status) {}
}
