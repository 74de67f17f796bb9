package io.github.gpujoin.core.engine;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;

/** Checks of arguments that every engine makes in the same words. */
public final class EngineChecks {

    private EngineChecks() {}

    /** The dimension a build chunk is for. */
    public static DimensionSpec buildSide(JoinSpec spec, int dimension, Chunk chunk) {
        if (dimension < 0 || dimension >= spec.dimensions().size()) {
            throw new IllegalArgumentException(
                    "a build chunk is of one of the join's dimensions: dimension="
                            + dimension
                            + ", dimensions="
                            + spec.dimensions().size());
        }
        DimensionSpec side = spec.dimensions().get(dimension);
        requireSchema(side.name(), side.schema(), chunk);
        return side;
    }

    public static void probe(JoinSpec spec, Chunk chunk) {
        requireSchema("facts", spec.factSchema(), chunk);
    }

    public static void nothingInFlight(int inFlight) {
        if (inFlight > 0) {
            throw new IllegalStateException(
                    "an engine is restored before it is probed: inFlight=" + inFlight);
        }
    }

    /** For {@link JoinEngine#submitBuild}. */
    public static void submittingBuild(
            JoinSpec spec, EngineState state, int dimension, int inFlight) {
        boolean changes =
                dimension >= 0
                        && dimension < spec.dimensions().size()
                        && spec.dimensions().get(dimension).changes();
        if (!changes || state != EngineState.JOINING) {
            state.require(EngineState.LOADING);
        } else if (inFlight > 0) {
            throw new IllegalStateException(
                    "a dimension is changed behind the facts that came before: dimension="
                            + spec.dimensions().get(dimension).name()
                            + ", inFlight="
                            + inFlight);
        }
    }

    /** For {@link JoinEngine#takeGroups()} of a JOINING engine. */
    public static void takingGroups(JoinSpec spec, int inFlight, boolean awaitsTake) {
        if (!spec.aggregates() || inFlight > 0 && !awaitsTake) {
            throw new IllegalStateException(
                    "groups are taken of an aggregating join, with nothing in flight or where they"
                            + " are too many: aggregates="
                            + spec.aggregates()
                            + ", inFlight="
                            + inFlight);
        }
    }

    /** Bytes of a chunk's rows: fixed columns and carried values, without header and padding. */
    public static long payloadBytes(Chunk chunk) {
        ChunkSchema schema = chunk.schema();
        int rows = chunk.rowCount();
        long bytes = (long) schema.fixedRowBytes() * rows;
        if (schema.hasCarried() && rows > 0) {
            bytes += chunk.carriedEnd(rows - 1) - chunk.carriedStart(0);
        }
        return bytes;
    }

    private static void requireSchema(String side, ChunkSchema expected, Chunk chunk) {
        if (!expected.equals(chunk.schema())) {
            throw new IllegalArgumentException(
                    "a chunk has its side's schema: side="
                            + side
                            + ", expected="
                            + expected
                            + ", schema="
                            + chunk.schema());
        }
    }
}
