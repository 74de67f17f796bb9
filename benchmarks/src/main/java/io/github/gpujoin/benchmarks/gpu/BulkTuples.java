// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.gpu;

import io.github.gpujoin.benchmarks.workload.JoinAnswer;
import io.github.gpujoin.benchmarks.workload.TupleSchemas;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.region.Memory;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * Chunks of both inputs of a bulk join: build keys once each in random order, probe keys of a Zipf
 * distribution over them. They are on the heap, 16 bytes a row with keys of 8 bytes.
 */
final class BulkTuples {

    private static final int CHUNK_ROWS = 1 << 16;
    private static final long ODD = 0x9E3779B97F4A7C15L;

    private final BulkKey key;
    private final int buildRows;
    private final long probeRows;
    private final double zipf;
    private final boolean isOrdered;
    private final List<Chunk> build;
    private final List<Chunk> probe;
    private final long expectedSum;

    /**
     * @param buildRows a power of two
     * @param probeRows a power of two
     * @param zipf exponent; 0 is uniform
     */
    static BulkTuples random(int buildRows, long probeRows, double zipf) {
        return random(BulkKey.LONG, buildRows, probeRows, zipf);
    }

    /** The same with keys of other columns. */
    static BulkTuples random(BulkKey key, int buildRows, long probeRows, double zipf) {
        return new BulkTuples(key, buildRows, probeRows, zipf, false);
    }

    /** Both inputs in the order of their keys, of which each has as many probe rows. */
    static BulkTuples ordered(int buildRows, long probeRows) {
        return new BulkTuples(BulkKey.LONG, buildRows, probeRows, 0, true);
    }

    private BulkTuples(BulkKey key, int buildRows, long probeRows, double zipf, boolean isOrdered) {
        this.key = key;
        this.buildRows = buildRows;
        this.probeRows = probeRows;
        this.zipf = zipf;
        this.isOrdered = isOrdered;
        this.build = chunks(buildRows, this::buildKeys);
        this.probe = chunks(probeRows, this::probeKeys);
        this.expectedSum = probe.parallelStream().mapToLong(this::sum).sum();
    }

    @FunctionalInterface
    private interface Keys {
        void fill(long firstRow, long[] keys);
    }

    private List<Chunk> chunks(long rows, Keys keys) {
        int chunkRows = (int) Math.min(rows, CHUNK_ROWS);
        return IntStream.range(0, (int) (rows / chunkRows))
                .parallel()
                .mapToObj(i -> chunk((long) i * chunkRows, chunkRows, keys))
                .toList();
    }

    private Chunk chunk(long firstRow, int rows, Keys keys) {
        ChunkBuilder builder = new ChunkBuilder(key.schema(), rows * key.rowBytes());
        long[] values = new long[rows];
        keys.fill(firstRow, values);
        for (int row = 0; row < rows; row++) {
            key.put(builder, values[row]);
            builder.putLong(TupleSchemas.PAYLOAD, payload(values[row]));
            builder.endRow();
        }
        return builder.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, 0);
    }

    /** The same for both inputs, so that a sum of payloads checks pairs. */
    private static long payload(long key) {
        return key * ODD >>> 40;
    }

    private void buildKeys(long firstRow, long[] keys) {
        for (int i = 0; i < keys.length; i++) {
            long row = firstRow + i;
            keys[i] = isOrdered ? row : row * ODD & (buildRows - 1);
        }
    }

    private void probeKeys(long firstRow, long[] keys) {
        SplittableRandom random = new SplittableRandom(firstRow);
        for (int i = 0; i < keys.length; i++) {
            keys[i] =
                    isOrdered
                            ? (firstRow + i) / (probeRows / buildRows)
                            : rank(random.nextDouble()) * ODD & (buildRows - 1);
        }
    }

    /** Inverts the distribution function of a continuous variable that approximates Zipf. */
    private long rank(double uniform) {
        double exponent = 1 - zipf;
        double rank =
                Math.abs(exponent) < 1e-9
                        ? Math.exp(uniform * Math.log(buildRows))
                        : Math.pow(uniform * (Math.pow(buildRows, exponent) - 1) + 1, 1 / exponent);
        return zipf == 0 ? (long) (uniform * buildRows) : Math.min(buildRows, (long) rank) - 1;
    }

    private long sum(Chunk chunk) {
        long sum = 0;
        long start = chunk.columnStart(TupleSchemas.PAYLOAD);
        for (int row = 0; row < chunk.rowCount(); row++) {
            sum += 2 * Memory.getLong(chunk.array(), start + 8L * row);
        }
        return sum;
    }

    BulkKey key() {
        return key;
    }

    int buildRows() {
        return buildRows;
    }

    long probeRows() {
        return probeRows;
    }

    double zipf() {
        return zipf;
    }

    boolean isOrdered() {
        return isOrdered;
    }

    List<Chunk> build() {
        return build;
    }

    List<Chunk> probe() {
        return probe;
    }

    /** Each probe row has one match, of the same payload. */
    JoinAnswer expected() {
        return new JoinAnswer(probeRows, expectedSum);
    }
}
