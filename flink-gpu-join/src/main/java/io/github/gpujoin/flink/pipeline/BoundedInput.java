package io.github.gpujoin.flink.pipeline;

import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.transformations.WithBoundedness;

/** Checks that a stream ends. */
final class BoundedInput {

    private BoundedInput() {}

    /**
     * @param input for the message
     * @throws IllegalArgumentException where a source of the stream has no end
     */
    static void require(String input, DataStream<?> stream) {
        for (Transformation<?> source : stream.getTransformation().getTransitivePredecessors()) {
            if (source instanceof WithBoundedness bounds
                    && bounds.getBoundedness() != Boundedness.BOUNDED) {
                throw new IllegalArgumentException(
                        input
                                + " is bounded, since rows without a match are known at its end:"
                                + " source="
                                + source.getName()
                                + ", boundedness="
                                + bounds.getBoundedness());
            }
        }
    }
}
