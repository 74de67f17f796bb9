// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.engine;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;

/** Checks of arguments and states that all engines share. */
public final class EngineChecks {

    private EngineChecks() {}

    /**
     * Checks that an engine's group columns are integers.
     *
     * @throws IllegalArgumentException if one is text; see {@link GroupCodes}
     */
    public static void integerGroups(JoinSpec spec) {
        if (spec.hasTextGroups()) {
            throw new IllegalArgumentException(
                    "Engine groups by text. Replace it by GroupCodes: groupColumns="
                            + spec.aggregation().groupColumns());
        }
    }

    /**
     * Checks a build chunk.
     *
     * @return the dimension of the chunk
     * @throws IllegalArgumentException if there is no such dimension or the schema differs
     */
    public static DimensionSpec buildSide(JoinSpec spec, int dimension, Chunk chunk) {
        if (dimension < 0 || dimension >= spec.dimensions().size()) {
            throw new IllegalArgumentException(
                    "Build chunk names an unknown dimension: dimension="
                            + dimension
                            + ", dimensions="
                            + spec.dimensions().size());
        }
        DimensionSpec build = spec.dimensions().get(dimension);
        requireSchema(build.name(), build.schema(), chunk);
        return build;
    }

    /** Checks that a probe chunk has the schema of the facts. */
    public static void probe(JoinSpec spec, Chunk chunk) {
        requireSchema("facts", spec.factSchema(), chunk);
    }

    /** Checks that an engine that is restored has no probe chunks. */
    public static void nothingInFlight(int inFlight) {
        if (inFlight > 0) {
            throw new IllegalStateException(
                    "Engine is restored while probe chunks are in flight: inFlight=" + inFlight);
        }
    }

    /** Checks the state for {@link JoinEngine#submitBuild}. */
    public static void submittingBuild(
            JoinSpec spec, EngineState state, int dimension, int inFlight) {
        boolean isChangelog =
                dimension >= 0
                        && dimension < spec.dimensions().size()
                        && spec.dimensions().get(dimension).isChangelog();
        if (!isChangelog || state != EngineState.JOINING) {
            state.require(EngineState.LOADING);
        } else if (inFlight > 0) {
            throw new IllegalStateException(
                    "Dimension is changed while earlier facts are in flight: dimension="
                            + spec.dimensions().get(dimension).name()
                            + ", inFlight="
                            + inFlight);
        }
    }

    /** Checks the state for {@link JoinEngine#drainGroups()} of a JOINING engine. */
    public static void drainingGroups(JoinSpec spec, int inFlight, boolean awaitsDrain) {
        if (!spec.isAggregating() || inFlight > 0 && !awaitsDrain) {
            throw new IllegalStateException(
                    "Groups are read from a join without groups, or while probe chunks are in"
                            + " flight: aggregates="
                            + spec.isAggregating()
                            + ", inFlight="
                            + inFlight);
        }
    }

    /**
     * Returns the bytes of a chunk's rows: fixed-width columns and variable-width values, without
     * header and padding.
     */
    public static long payloadBytes(Chunk chunk) {
        ChunkSchema schema = chunk.schema();
        int rows = chunk.rowCount();
        long bytes = (long) schema.fixedRowBytes() * rows;
        if (schema.hasVariableWidth() && rows > 0) {
            bytes += chunk.variableWidthEnd(rows - 1) - chunk.variableWidthStart(0);
        }
        return bytes;
    }

    /**
     * Checks the schema of a chunk.
     *
     * @param input name for the message
     * @throws IllegalArgumentException if it is another one
     */
    public static void requireSchema(String input, ChunkSchema expected, Chunk chunk) {
        if (!expected.equals(chunk.schema())) {
            throw new IllegalArgumentException(
                    "Chunk has another schema than its input: input="
                            + input
                            + ", expected="
                            + expected
                            + ", schema="
                            + chunk.schema());
        }
    }
}
