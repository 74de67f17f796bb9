// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.symmetric;

import java.util.function.BiConsumer;
import org.apache.flink.runtime.event.WatermarkEvent;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.LatencyMarker;
import org.apache.flink.streaming.runtime.streamrecord.RecordAttributes;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.util.OutputTag;

/**
 * The output of an operator that queues chunks. Flink's operator combines watermarks and statuses
 * of all inputs and emits them here; they queue behind the chunks that arrived earlier.
 */
final class QueuedOutput<OUT> implements Output<StreamRecord<OUT>> {

    private final Output<StreamRecord<OUT>> output;
    private BiConsumer<Object, Runnable> queue = (kind, emit) -> emit.run();

    QueuedOutput(Output<StreamRecord<OUT>> output) {
        this.output = output;
    }

    /**
     * Queues elements from now on.
     *
     * @param elements receives the kind of an element, and what emits it
     */
    void queueIn(BiConsumer<Object, Runnable> elements) {
        queue = elements;
    }

    @Override
    public void collect(StreamRecord<OUT> record) {
        output.collect(record);
    }

    @Override
    public <X> void collect(OutputTag<X> tag, StreamRecord<X> record) {
        output.collect(tag, record);
    }

    @Override
    public void emitWatermark(Watermark mark) {
        queue.accept(Watermark.class, () -> output.emitWatermark(mark));
    }

    @Override
    public void emitWatermarkStatus(WatermarkStatus status) {
        // Each status is a kind: an idle output drops watermarks that do not follow an active one.
        queue.accept(status, () -> output.emitWatermarkStatus(status));
    }

    @Override
    public void emitLatencyMarker(LatencyMarker marker) {
        queue.accept(LatencyMarker.class, () -> output.emitLatencyMarker(marker));
    }

    @Override
    public void emitWatermark(WatermarkEvent event) {
        queue.accept(event.getWatermark().getIdentifier(), () -> output.emitWatermark(event));
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
