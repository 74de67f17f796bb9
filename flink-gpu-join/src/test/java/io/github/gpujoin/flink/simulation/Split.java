// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.simulation;

import java.util.List;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.streaming.runtime.streamrecord.LatencyMarker;
import org.apache.flink.streaming.runtime.streamrecord.StreamElement;

/**
 * A part of a source that one subtask reads at a time.
 *
 * @param script its rows, watermarks and statuses, in order
 */
record Split(String source, int number, List<StreamElement> script) {

    /** In a script: what follows waits until nothing else can happen. */
    static final StreamElement GATE = new LatencyMarker(0, new OperatorID(0, 0), 0);

    static boolean isGate(StreamElement element) {
        return element.isLatencyMarker();
    }

    /** The last watermark or status before the position; null where there is none. */
    StreamElement lastTimeBefore(int position) {
        StreamElement last = null;
        for (StreamElement element : script.subList(0, position)) {
            last = element.isWatermark() || element.isWatermarkStatus() ? element : last;
        }
        return last;
    }
}
