// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.core.engine.InFlightProbe;
import java.util.List;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.LatencyMarker;
import org.apache.flink.streaming.runtime.streamrecord.StreamElement;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;

/** Emits the results of an engine. Not thread-safe. */
interface ResultPump {

    /**
     * Emits some results, at least one batch if one is ready.
     *
     * @return whether it emitted any
     */
    boolean emitNext() throws Exception;

    /** Whether a batch is emitted in part; the engine must not be polled before it is whole. */
    default boolean holdsBatch() {
        return false;
    }

    /**
     * In-flight probes, each with the number of its emitted rows.
     *
     * @param inFlight probes of the engine, which counts rows of polled results as emitted
     */
    default List<InFlightProbe> emitted(List<InFlightProbe> inFlight) {
        return inFlight;
    }

    /** Emits the results that the emitter buffers, such as those of a chunk that is not full. */
    void flushEmitter() throws Exception;

    /**
     * Emits the results that must precede a barrier. Afterwards the engine's snapshot and {@link
     * #emitted} return the exact progress. To be called in {@link JoinPhase#JOIN}.
     */
    void beforeBarrier() throws Exception;

    /** Emits an element other than a record, behind the results of all facts before it. */
    void pass(StreamElement element) throws Exception;

    static void emit(StreamElement element, Output<?> output) {
        if (element.isWatermark()) {
            output.emitWatermark((Watermark) element);
        } else if (element.isWatermarkStatus()) {
            output.emitWatermarkStatus((WatermarkStatus) element);
        } else if (element.isLatencyMarker()) {
            output.emitLatencyMarker((LatencyMarker) element);
        } else {
            output.emitWatermark(((WatermarkElement) element).event());
        }
    }
}
