// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange;

import io.github.gpujoin.core.layout.Chunk;
import org.apache.flink.runtime.event.WatermarkEvent;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.LatencyMarker;
import org.apache.flink.streaming.runtime.streamrecord.RecordAttributes;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.util.OutputTag;

/** Counts the rows of the chunks that it forwards to an output. */
public final class RowCountingOutput<T> implements Output<StreamRecord<T>> {

    private final Output<StreamRecord<T>> output;
    private final RowCounts rows;

    /**
     * @param output of chunks
     */
    public RowCountingOutput(Output<StreamRecord<T>> output, RowCounts rows) {
        this.output = output;
        this.rows = rows;
    }

    @Override
    public void collect(StreamRecord<T> element) {
        Chunk chunk = (Chunk) element.getValue();
        output.collect(element);
        rows.emitted(chunk);
    }

    @Override
    public <X> void collect(OutputTag<X> tag, StreamRecord<X> element) {
        output.collect(tag, element);
        if (element.getValue() instanceof Chunk chunk) {
            rows.emitted(chunk);
        }
    }

    @Override
    public void emitWatermark(Watermark mark) {
        output.emitWatermark(mark);
    }

    @Override
    public void emitWatermark(WatermarkEvent watermark) {
        output.emitWatermark(watermark);
    }

    @Override
    public void emitWatermarkStatus(WatermarkStatus status) {
        output.emitWatermarkStatus(status);
    }

    @Override
    public void emitLatencyMarker(LatencyMarker marker) {
        output.emitLatencyMarker(marker);
    }

    @Override
    public void emitRecordAttributes(RecordAttributes attributes) {
        output.emitRecordAttributes(attributes);
    }

    @Override
    public void close() {
        output.close();
    }
}
