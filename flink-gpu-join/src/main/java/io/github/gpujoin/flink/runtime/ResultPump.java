package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.core.engine.InFlightProbe;
import java.util.List;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.LatencyMarker;
import org.apache.flink.streaming.runtime.streamrecord.StreamElement;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;

/** Moves results from the engine to the output. Not thread-safe. */
interface ResultPump {

    /**
     * Hands some results to the emitter, at least one batch if one is ready.
     *
     * @return whether there was one
     */
    boolean turn() throws Exception;

    /** Whether a batch of the engine is emitted in part, which must be whole before it polls. */
    default boolean holdsBatch() {
        return false;
    }

    /**
     * Facts in flight, with how far their results were emitted.
     *
     * @param inFlight as the engine sees it: what it gave counts as emitted
     */
    default List<InFlightProbe> emitted(List<InFlightProbe> inFlight) {
        return inFlight;
    }

    /** Emits results that the emitter keeps, as those that do not fill a chunk. */
    void handOutKept() throws Exception;

    /**
     * Emits what the output is to have before a barrier, with the engine JOINING: after this the
     * engine's snapshot says what was emitted.
     */
    void beforeBarrier() throws Exception;

    /** Emits what is no record behind all results of the facts before it. */
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
