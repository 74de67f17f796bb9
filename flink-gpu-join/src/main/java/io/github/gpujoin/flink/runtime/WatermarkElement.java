// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import org.apache.flink.runtime.event.WatermarkEvent;
import org.apache.flink.streaming.runtime.streamrecord.StreamElement;

/** A generalised watermark as a stream element, which keeps its order among other elements. */
final class WatermarkElement extends StreamElement {

    private final WatermarkEvent event;

    WatermarkElement(WatermarkEvent event) {
        this.event = event;
    }

    WatermarkEvent event() {
        return event;
    }
}
