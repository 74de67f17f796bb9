// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.pack;

import java.util.ArrayDeque;
import java.util.function.Consumer;
import org.apache.flink.streaming.runtime.streamrecord.LatencyMarker;
import org.apache.flink.streaming.runtime.tasks.ProcessingTimeService;

/** Latency markers that wait until the rows before them are emitted. For the task's thread. */
final class HeldLatencyMarkers {

    /** Further markers are dropped, because they would measure the same wait. */
    private static final int MAX_MARKERS = 1_000;

    private record Held(long untilMs, LatencyMarker marker) {}

    private final ProcessingTimeService time;
    private final Consumer<LatencyMarker> output;
    private final ArrayDeque<Held> held = new ArrayDeque<>();

    HeldLatencyMarkers(ProcessingTimeService time, Consumer<LatencyMarker> output) {
        this.time = time;
        this.output = output;
    }

    /**
     * Holds a marker.
     *
     * @param untilMs processing time at which the rows before it are emitted at the latest
     */
    void hold(LatencyMarker marker, long untilMs) {
        if (held.size() < MAX_MARKERS) {
            held.add(new Held(untilMs, marker));
            time.registerTimer(untilMs, this::emit);
        }
    }

    void emitAll() {
        emit(Long.MAX_VALUE);
    }

    private void emit(long nowMs) {
        while (!held.isEmpty() && held.peek().untilMs() <= nowMs) {
            output.accept(held.remove().marker());
        }
    }
}
