// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.simulation;

import java.util.List;
import org.apache.flink.runtime.event.WatermarkEvent;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.LatencyMarker;
import org.apache.flink.streaming.runtime.streamrecord.RecordAttributes;
import org.apache.flink.streaming.runtime.streamrecord.StreamElement;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.util.FlinkRuntimeException;
import org.apache.flink.util.OutputTag;

/**
 * The output of an operator, as Flink's chaining and network outputs behave: a status is passed on
 * where it changes, and a watermark of an idle output is lost.
 */
final class ChainOutput implements Output<StreamRecord<Object>> {

    /** Where elements go: an operator of the chain, channels, or the sink. */
    @FunctionalInterface
    interface Target {
        void accept(StreamElement element) throws Exception;
    }

    /**
     * @param tag of the side output that the target is of; null for the main output
     */
    record Edge(OutputTag<?> tag, Target target) {}

    private final List<Edge> edges;
    private WatermarkStatus announced = WatermarkStatus.ACTIVE;

    ChainOutput(List<Edge> edges) {
        this.edges = edges;
    }

    /** The next operator of a chain. */
    @SuppressWarnings({"unchecked", "rawtypes"})
    static Target next(OneInputStreamOperator<?, ?> operator) {
        OneInputStreamOperator<Object, Object> input = (OneInputStreamOperator) operator;
        return element -> {
            if (element.isRecord()) {
                input.setKeyContextElement(element.asRecord());
                input.processElement((StreamRecord) element);
            } else if (element.isWatermark()) {
                input.processWatermark(element.asWatermark());
            } else {
                input.processWatermarkStatus(element.asWatermarkStatus());
            }
        };
    }

    @Override
    public void collect(StreamRecord<Object> element) {
        emit(element, null);
    }

    @Override
    @SuppressWarnings({"unchecked", "rawtypes"})
    public <X> void collect(OutputTag<X> tag, StreamRecord<X> element) {
        emit((StreamRecord) element, tag);
    }

    private void emit(StreamRecord<Object> element, OutputTag<?> tag) {
        for (Edge edge : edges) {
            if (tag == null ? edge.tag() == null : tag.equals(edge.tag())) {
                accept(edge, element);
            }
        }
    }

    @Override
    public void emitWatermark(Watermark mark) {
        if (!announced.isIdle()) {
            edges.forEach(edge -> accept(edge, mark));
        }
    }

    @Override
    public void emitWatermarkStatus(WatermarkStatus status) {
        if (!announced.equals(status)) {
            announced = status;
            edges.forEach(edge -> accept(edge, status));
        }
    }

    private static void accept(Edge edge, StreamElement element) {
        try {
            edge.target().accept(element);
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new FlinkRuntimeException(e);
        }
    }

    @Override
    public void emitLatencyMarker(LatencyMarker marker) {}

    @Override
    public void emitRecordAttributes(RecordAttributes attributes) {}

    @Override
    public void emitWatermark(WatermarkEvent watermark) {}

    @Override
    public void close() {}
}
