// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.skew;

import io.github.gpujoin.benchmarks.skew.SkewedFacts.HeavyKey;
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
import io.github.gpujoin.core.layout.KeyHash;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.BiConsumer;
import java.util.stream.IntStream;
import org.apache.commons.math3.distribution.IntegerDistribution;
import org.apache.commons.math3.distribution.UniformIntegerDistribution;
import org.apache.commons.math3.distribution.ZipfDistribution;
import org.apache.commons.math3.random.Well19937c;

/**
 * Orders joined with their customer, product and day. Customers differ in popularity and decide an
 * order's radix partition; products and days are uniform. Every order has one of each.
 *
 * @param customers a power of two, so that popularity can be spread over them without two meeting
 */
record OrdersStar(int customers) {

    static final int PARTITIONS = 64;
    static final int CHUNK_ROWS = 8192;

    private static final int PRODUCTS = 1 << 14;
    private static final int DAYS = 2556;
    private static final int[] DIMENSION_ROWS = {0, PRODUCTS, DAYS};
    private static final int HEAVIEST = 10;

    private static final ChunkSchema ORDERS =
            ChunkSchema.of(
                    Column.of("customer", ColumnType.INT64),
                    Column.of("product", ColumnType.INT32),
                    Column.of("day", ColumnType.INT32));
    private static final List<ChunkSchema> DIMENSIONS =
            List.of(
                    dimension("customer", ColumnType.INT64),
                    dimension("product", ColumnType.INT32),
                    dimension("day", ColumnType.INT32));

    private static ChunkSchema dimension(String key, ColumnType type) {
        return ChunkSchema.of(Column.of(key, type), Column.of("value", ColumnType.INT32));
    }

    JoinSpec spec() {
        List<DimensionSpec> sides = new ArrayList<>();
        for (int d = 0; d < DIMENSIONS.size(); d++) {
            String name = ORDERS.column(d).name();
            sides.add(new DimensionSpec(name, DIMENSIONS.get(d), 0, d, JoinKind.INNER));
        }
        return new JoinSpec(ORDERS, sides);
    }

    /** All columns of a fact. */
    static List<Integer> factColumns() {
        return List.of(0, 1, 2);
    }

    /** Gives the build side, chunk by chunk, with the number of its dimension. */
    void build(BiConsumer<Integer, Chunk> sink) {
        for (int d = 0; d < DIMENSIONS.size(); d++) {
            int rows = d == 0 ? customers : DIMENSION_ROWS[d];
            ChunkBuilder builder = builder(DIMENSIONS.get(d));
            for (int key = 0; key < rows; key++) {
                if (d == 0) {
                    builder.putLong(0, key);
                } else {
                    builder.putInt(0, key);
                }
                builder.putInt(1, value(d, key));
                builder.endRow();
                if (builder.rowCount() == CHUNK_ROWS || key == rows - 1) {
                    sink.accept(d, builder.seal(d, ChunkDescriptor.UNPARTITIONED, 0, key));
                }
            }
        }
    }

    /** Draws facts; the same seed gives the same. */
    SkewedFacts facts(long rows, double zipf, long seed) {
        IntegerDistribution ranks =
                zipf == 0
                        ? new UniformIntegerDistribution(new Well19937c(seed), 1, customers)
                        : new ZipfDistribution(new Well19937c(seed), customers, zipf);
        SplittableRandom random = new SplittableRandom(seed);
        ChunkBuilder[] open = new ChunkBuilder[PARTITIONS];
        long[] partitionRows = new long[PARTITIONS];
        int[] customerRows = new int[customers];
        List<Chunk> chunks = new ArrayList<>();
        long checksum = 0;
        for (long row = 0; row < rows; row++) {
            int customer = customerOf(ranks.sample());
            int product = random.nextInt(PRODUCTS);
            int day = random.nextInt(DAYS);
            int partition = partitionOf(customer);
            if (open[partition] == null) {
                open[partition] = builder(ORDERS);
            }
            ChunkBuilder builder = open[partition];
            builder.putLong(0, customer);
            builder.putInt(1, product);
            builder.putInt(2, day);
            builder.endRow();
            partitionRows[partition]++;
            customerRows[customer]++;
            checksum += (long) value(0, customer) + value(1, product) + value(2, day);
            if (builder.rowCount() == CHUNK_ROWS) {
                chunks.add(seal(builder, partition, chunks.size()));
            }
        }
        for (int partition = 0; partition < PARTITIONS; partition++) {
            if (open[partition] != null && open[partition].rowCount() > 0) {
                chunks.add(seal(open[partition], partition, chunks.size()));
            }
        }
        return new SkewedFacts(
                zipf,
                chunks,
                partitionRows,
                heaviest(customerRows),
                new JoinAnswer(rows, checksum));
    }

    private static Chunk seal(ChunkBuilder builder, int partition, int sequence) {
        return builder.seal(ChunkDescriptor.FACTS, partition, 0, sequence);
    }

    /** The customer of a rank from 1 on: multiplication by an odd number permutes them. */
    private int customerOf(int rank) {
        return (rank * 0x9E3779B1) & customers - 1;
    }

    static int partitionOf(long customer) {
        return KeyHash.partition(KeyHash.hash(customer), PARTITIONS);
    }

    private static List<HeavyKey> heaviest(int[] customerRows) {
        return IntStream.range(0, customerRows.length)
                .filter(customer -> customerRows[customer] > 0)
                .mapToObj(c -> new HeavyKey(c, partitionOf(c), customerRows[c]))
                .sorted(Comparator.comparingLong(HeavyKey::rows).reversed())
                .limit(HEAVIEST)
                .toList();
    }

    /** What a batch of results says: their number, and the sum of all values. */
    static JoinAnswer answerOf(ResultBatch batch) {
        long sum = 0;
        for (int row = 0; row < batch.rowCount(); row++) {
            for (int d = 0; d < DIMENSIONS.size(); d++) {
                sum += batch.getInt(d, 0, row);
            }
        }
        return new JoinAnswer(batch.rowCount(), sum);
    }

    private static ChunkBuilder builder(ChunkSchema schema) {
        return new ChunkBuilder(schema, CHUNK_ROWS * schema.fixedRowBytes());
    }

    private static int value(int dimension, int key) {
        return (int) KeyDomain.mix(16L * key + dimension);
    }
}
