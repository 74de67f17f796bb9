// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.gpu;

import io.github.gpujoin.benchmarks.workload.JoinAnswer;
import io.github.gpujoin.benchmarks.workload.KeyDomain;
import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.apache.commons.math3.distribution.IntegerDistribution;
import org.apache.commons.math3.distribution.UniformIntegerDistribution;
import org.apache.commons.math3.distribution.ZipfDistribution;
import org.apache.commons.math3.random.RandomGenerator;
import org.apache.commons.math3.random.Well19937c;

/**
 * Facts of some width with a 64-bit key, and one dimension whose keys are all there equally often.
 *
 * <p>What the join must give is summed while the facts are drawn, from the numbers of the build
 * rows, so that no join takes part in it.
 *
 * @param tupleBytes of a fact, the key among them; a multiple of 8
 * @param payloads types of the dimension's payload columns
 * @param buildRows of the dimension
 * @param copies build rows of each key
 * @param values of facts
 */
record RingWorkload(
        int tupleBytes, List<ColumnType> payloads, int buildRows, int copies, Values values) {

    /** Bits of the values of facts besides their key, if they are narrow. */
    static final int NARROW_BITS = 20;

    enum Values {
        /** Keys of 64 random bits; the other values are numbers of rows. */
        WIDE,
        /**
         * Keys from 0 to the number of keys, in random order; the other values are random numbers
         * of {@link #NARROW_BITS} bits.
         */
        NARROW,
        /** Like {@link #NARROW}, and payloads are random numbers of as many bits. */
        ALL_NARROW
    }

    static final int BUILD_CHUNK_ROWS = 64 << 10;

    /** Odd, so that numbers that differ give keys that differ. */
    private static final long KEY_FACTOR = 0x9E3779B97F4A7C15L;

    /** Facts in chunks of the same size, and what all of them give. */
    record Facts(List<Chunk> chunks, JoinAnswer expected) {}

    RingWorkload(int tupleBytes, List<ColumnType> payloads, int buildRows, int copies) {
        this(tupleBytes, payloads, buildRows, copies, Values.WIDE);
    }

    ChunkSchema factSchema() {
        List<Column> columns = new ArrayList<>(List.of(Column.of("key", ColumnType.INT64)));
        for (int i = 1; i < tupleBytes / Long.BYTES; i++) {
            columns.add(Column.of("value" + i, ColumnType.INT64));
        }
        return ChunkSchema.of(columns);
    }

    private ChunkSchema buildSchema() {
        List<Column> columns = new ArrayList<>(List.of(Column.of("key", ColumnType.INT64)));
        for (int i = 0; i < payloads.size(); i++) {
            columns.add(Column.of("payload" + i, payloads.get(i)));
        }
        return ChunkSchema.of(columns);
    }

    JoinSpec spec() {
        DimensionSpec side = new DimensionSpec("d", buildSchema(), 0, 0, JoinKind.INNER);
        return new JoinSpec(factSchema(), List.of(side));
    }

    /** All columns of a fact, so that the whole tuple crosses the bus. */
    List<Integer> allFactColumns() {
        return IntStream.range(0, tupleBytes / Long.BYTES).boxed().toList();
    }

    /** Bytes of one result row: the fact's number and the payload columns. */
    int resultRowBytes() {
        return Integer.BYTES + payloads.stream().mapToInt(ColumnType::widthBytes).sum();
    }

    /** Build rows, one chunk at a time. */
    void build(Consumer<Chunk> sink) {
        for (int chunk = 0; chunk < buildChunkCount(); chunk++) {
            sink.accept(buildChunk(chunk));
        }
    }

    /** All build rows at once, made by all cores. */
    List<Chunk> buildChunks() {
        return IntStream.range(0, buildChunkCount()).parallel().mapToObj(this::buildChunk).toList();
    }

    private int buildChunkCount() {
        return (buildRows + BUILD_CHUNK_ROWS - 1) / BUILD_CHUNK_ROWS;
    }

    private Chunk buildChunk(int chunk) {
        ChunkBuilder builder = builder(buildSchema(), BUILD_CHUNK_ROWS);
        int first = chunk * BUILD_CHUNK_ROWS;
        int end = Math.min(buildRows, first + BUILD_CHUNK_ROWS);
        for (int row = first; row < end; row++) {
            builder.putLong(0, key(row / copies));
            for (int i = 0; i < payloads.size(); i++) {
                if (payloads.get(i) == ColumnType.INT64) {
                    builder.putLong(1 + i, payload(row, i));
                } else {
                    builder.putInt(1 + i, (int) payload(row, i));
                }
            }
            builder.endRow();
        }
        return builder.seal(0, ChunkDescriptor.UNPARTITIONED, 0, chunk);
    }

    /** Facts whose keys are uniform over the dimension's. */
    Facts facts(int chunks, int chunkRows, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        ChunkBuilder builder = builder(factSchema(), chunkRows);
        List<Chunk> all = new ArrayList<>();
        long checksum = 0;
        for (int chunk = 0; chunk < chunks; chunk++) {
            for (int row = 0; row < chunkRows; row++) {
                int id = random.nextInt(buildRows / copies);
                builder.putLong(0, key(id));
                for (int c = 1; c < tupleBytes / Long.BYTES; c++) {
                    builder.putLong(
                            c, values != Values.WIDE ? random.nextInt(1 << NARROW_BITS) : row);
                }
                builder.endRow();
                checksum += checksumOf(id);
            }
            all.add(builder.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, chunk));
        }
        return new Facts(all, new JoinAnswer((long) chunks * chunkRows * copies, checksum));
    }

    /**
     * Facts whose keys have a Zipf distribution over the dimension's, in chunks of one radix
     * partition each, in the order in which the partitions fill them.
     *
     * @param partitions a power of two
     * @param zipf exponent; 0 is uniform
     */
    Facts partitionedFacts(int chunks, int chunkRows, int partitions, double zipf, long seed) {
        IntegerDistribution ranks = ranks(buildRows / copies, zipf, seed);
        ChunkBuilder[] open = new ChunkBuilder[partitions];
        long[] sums = new long[partitions];
        List<Chunk> full = new ArrayList<>();
        long checksum = 0;
        while (full.size() < chunks) {
            // the popular keys are spread over the table, and so over partitions
            long spread = KeyDomain.mix(ranks.sample()) & Long.MAX_VALUE;
            int id = (int) (spread % (buildRows / copies));
            int partition = (int) (KeyDomain.mix(key(id)) & partitions - 1);
            if (open[partition] == null) {
                open[partition] = builder(factSchema(), chunkRows);
            }
            ChunkBuilder builder = open[partition];
            builder.putLong(0, key(id));
            for (int c = 1; c < tupleBytes / Long.BYTES; c++) {
                builder.putLong(c, builder.rowCount());
            }
            builder.endRow();
            sums[partition] += checksumOf(id);
            if (builder.rowCount() == chunkRows) {
                full.add(builder.seal(ChunkDescriptor.FACTS, partition, 0, full.size()));
                checksum += sums[partition];
                sums[partition] = 0;
            }
        }
        return new Facts(full, new JoinAnswer((long) chunks * chunkRows * copies, checksum));
    }

    private static IntegerDistribution ranks(int count, double zipf, long seed) {
        RandomGenerator random = new Well19937c(seed);
        return zipf == 0
                ? new UniformIntegerDistribution(random, 1, count)
                : new ZipfDistribution(random, count, zipf);
    }

    private static ChunkBuilder builder(ChunkSchema schema, int rows) {
        return new ChunkBuilder(schema, rows * schema.fixedRowBytes());
    }

    private long key(int id) {
        return values == Values.WIDE ? id * KEY_FACTOR : id;
    }

    private long payload(int buildRow, int column) {
        long bits = KeyDomain.mix(16L * buildRow + column);
        return values == Values.ALL_NARROW ? bits >>> Long.SIZE - NARROW_BITS : bits;
    }

    /** Of all results of a fact with the key of that number. */
    private long checksumOf(int id) {
        long sum = 0;
        for (int row = id * copies; row < (id + 1) * copies; row++) {
            long hash = key(id);
            for (int i = 0; i < payloads.size(); i++) {
                long payload = payload(row, i);
                boolean wide = payloads.get(i) == ColumnType.INT64;
                hash = KeyDomain.mix(hash ^ (wide ? payload : (int) payload));
            }
            sum += hash;
        }
        return sum;
    }

    /** The answer in a batch of results: each row's fact key and payloads, hashed and added up. */
    JoinAnswer answerOf(ResultBatch batch) {
        long sum = 0;
        for (int row = 0; row < batch.rowCount(); row++) {
            long hash = batch.chunk().getLong(0, batch.probeRow(row));
            for (int i = 0; i < payloads.size(); i++) {
                boolean wide = payloads.get(i) == ColumnType.INT64;
                hash =
                        KeyDomain.mix(
                                hash ^ (wide ? batch.getLong(0, i, row) : batch.getInt(0, i, row)));
            }
            sum += hash;
        }
        return new JoinAnswer(batch.rowCount(), sum);
    }
}
