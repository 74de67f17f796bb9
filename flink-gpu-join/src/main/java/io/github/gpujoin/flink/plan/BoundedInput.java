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

/** Checks while the job graph is built that a stream is bounded. */
final class BoundedInput {

    private BoundedInput() {}

    /**
     * Rejects an unbounded input of a join that emits unmatched build rows at the end.
     *
     * @param input name for the message
     * @throws IllegalArgumentException if a source of the stream is unbounded
     */
    static void require(String input, DataStream<?> stream) {
        unboundedSource(stream)
                .ifPresent(
                        source -> {
                            throw new IllegalArgumentException(
                                    "%s is unbounded, so unmatched build rows are never known: source=%s, boundedness=%s. Use a bounded source."
                                            .formatted(
                                                    input,
                                                    source.getName(),
                                                    Boundedness.CONTINUOUS_UNBOUNDED));
                        });
    }

    /**
     * Rejects an unbounded dimension that is complete at its end only, as facts would wait forever.
     *
     * @param remedy for the message
     * @throws IllegalArgumentException if a source of the dimension is unbounded
     */
    static void requireForLoad(String dimension, DataStream<?> stream, String remedy) {
        unboundedSource(stream)
                .ifPresent(
                        source -> {
                            throw new IllegalArgumentException(
                                    "Dimension '"
                                            + dimension
                                            + "' is never complete: its source '"
                                            + source.getName()
                                            + "' is unbounded, so no fact would be joined. "
                                            + remedy);
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

    /**
     * Whether a source reads an input format, such as that of a VALUES table. It ends, though Flink
     * reports it as unbounded.
     */
    private static boolean readsInputFormat(Transformation<?> source) {
        return source instanceof LegacySourceTransformation<?> legacy
                && legacy.getOperator().getUserFunction() instanceof InputFormatSourceFunction;
    }
}
