package io.github.gpujoin.flink.runtime;

import org.apache.flink.runtime.event.WatermarkEvent;
import org.apache.flink.streaming.runtime.streamrecord.StreamElement;

/** A watermark of a user's own kind as an element of a stream, so that it can wait among others. */
final class WatermarkElement extends StreamElement {

    private final WatermarkEvent event;

    WatermarkElement(WatermarkEvent event) {
        this.event = event;
    }

    WatermarkEvent event() {
        return event;
    }
}
