package io.github.gpujoin.core.engine;

import io.github.gpujoin.core.layout.Chunk;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The join by its definition, over the chunks' rows and without tables, hashes or state: what even
 * the reference engine is tested against. Quadratic, so for small data.
 */
public final class NestedLoopJoin {

    private final JoinSpec spec;
    private final List<RandomJoinData.BuildChunk> builds;

    public NestedLoopJoin(JoinSpec spec, List<RandomJoinData.BuildChunk> builds) {
        this.spec = spec;
        this.builds = builds;
    }

    /** All results of the chunk, sorted. */
    public List<ResultRow> join(Chunk probe) {
        List<ResultRow> rows = new ArrayList<>();
        for (int row = 0; row < probe.rowCount(); row++) {
            List<String> payloads = List.of("");
            for (int d = 0; d < spec.dimensions().size(); d++) {
                payloads = crossed(payloads, matches(d, probe, row));
            }
            for (String payload : payloads) {
                rows.add(new ResultRow(row, payload));
            }
        }
        rows.sort(null);
        return rows;
    }

    private List<String> matches(int dimension, Chunk probe, int probeRow) {
        DimensionSpec side = spec.dimensions().get(dimension);
        long key = probe.getLong(side.factKeyColumn(), probeRow);
        List<String> matches = new ArrayList<>();
        for (RandomJoinData.BuildChunk build : builds) {
            for (int row = 0; row < build.chunk().rowCount(); row++) {
                if (build.dimension() == dimension
                        && build.chunk().getLong(side.keyColumn(), row) == key) {
                    matches.add(payload(side, build.chunk(), row));
                }
            }
        }
        boolean once = side.kind() == JoinKind.SEMI && !matches.isEmpty();
        return once ? matches.subList(0, 1) : matches;
    }

    private static String payload(DimensionSpec side, Chunk chunk, int row) {
        List<Long> bits = new ArrayList<>();
        for (int column : side.payloadColumns()) {
            bits.add(
                    switch (chunk.schema().column(column).type()) {
                        case INT32, INT64 -> chunk.getLong(column, row);
                        case FLOAT32 ->
                                (long)
                                        Float.floatToRawIntBits(
                                                (float) chunk.getDouble(column, row));
                        case FLOAT64 -> Double.doubleToRawLongBits(chunk.getDouble(column, row));
                        case STRING, BYTES -> throw new AssertionError("carried, not fixed");
                    });
        }
        byte[] carried = null;
        if (side.hasCarriedPayload()) {
            carried =
                    Arrays.copyOfRange(
                            chunk.bytes(), chunk.carriedStart(row), chunk.carriedEnd(row));
        }
        StringBuilder text = new StringBuilder();
        ResultRows.append(text, bits, carried);
        return text.toString();
    }

    private static List<String> crossed(List<String> left, List<String> right) {
        List<String> product = new ArrayList<>();
        for (String l : left) {
            for (String r : right) {
                product.add(l + r);
            }
        }
        return product;
    }
}
