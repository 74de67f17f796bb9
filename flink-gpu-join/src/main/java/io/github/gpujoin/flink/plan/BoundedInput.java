// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import java.util.Optional;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.functions.source.legacy.InputFormatSourceFunction;
import org.apache.flink.streaming.api.transformations.LegacySourceTransformation;
import org.apache.flink.streaming.api.transformations.WithBoundedness;

/** Checks that a stream ends, while the job is made. */
final class BoundedInput {

    private BoundedInput() {}

    /**
     * @param input for the message
     * @throws IllegalArgumentException if a source of the stream has no end
     */
    static void require(String input, DataStream<?> stream) {
        unboundedSource(stream)
                .ifPresent(
                        source -> {
                            throw new IllegalArgumentException(
                                    input
                                            + " is bounded, since rows without a match are known at"
                                            + " its end: source="
                                            + source.getName()
                                            + ", boundedness="
                                            + Boundedness.CONTINUOUS_UNBOUNDED);
                        });
    }

    /**
     * Checks a dimension that is complete at its end.
     *
     * @param waysOut what else can be done, for the message
     * @throws IllegalArgumentException if a source of the dimension has no end, so that facts would
     *     wait for ever
     */
    static void requireForLoad(String dimension, DataStream<?> stream, String waysOut) {
        unboundedSource(stream)
                .ifPresent(
                        source -> {
                            throw new IllegalArgumentException(
                                    "Dimension '"
                                            + dimension
                                            + "' is never complete: its source '"
                                            + source.getName()
                                            + "' is unbounded, so no fact would be joined. "
                                            + waysOut);
                        });
    }

    private static Optional<Transformation<?>> unboundedSource(DataStream<?> stream) {
        for (Transformation<?> source : stream.getTransformation().getTransitivePredecessors()) {
            if (source instanceof WithBoundedness bounds
                    && bounds.getBoundedness() != Boundedness.BOUNDED
                    && !readsInputFormat(source)) {
                return Optional.of(source);
            }
        }
        return Optional.empty();
    }

    /** Flink calls these unbounded, those of VALUES tables among them, but an input format ends. */
    private static boolean readsInputFormat(Transformation<?> source) {
        return source instanceof LegacySourceTransformation<?> legacy
                && legacy.getOperator().getUserFunction() instanceof InputFormatSourceFunction;
    }
}
