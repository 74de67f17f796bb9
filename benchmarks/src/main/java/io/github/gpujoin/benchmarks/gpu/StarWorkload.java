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

/**
 * Facts of four 4-byte keys, and one to four dimensions of a key and a 4-byte value, each joined
 * with the key of its number. Every key has one row.
 *
 * @param dimensions that are joined, from 1 to {@link #KEYS}
 * @param buildRows of each dimension
 */
record StarWorkload(int dimensions, int buildRows) {

    static final int KEYS = 4;

    private static final ChunkSchema FACTS =
            ChunkSchema.of(
                    Column.of("key0", ColumnType.INT32),
                    Column.of("key1", ColumnType.INT32),
                    Column.of("key2", ColumnType.INT32),
                    Column.of("key3", ColumnType.INT32));
    private static final ChunkSchema BUILD =
            ChunkSchema.of(
                    Column.of("key", ColumnType.INT32), Column.of("value", ColumnType.INT32));

    JoinSpec spec() {
        List<DimensionSpec> sides = new ArrayList<>();
        for (int d = 0; d < dimensions; d++) {
            sides.add(new DimensionSpec("d" + d, BUILD, 0, d, JoinKind.INNER));
        }
        return new JoinSpec(FACTS, sides);
    }

    /** All columns of a fact, so that the whole tuple crosses the bus. */
    List<Integer> allFactColumns() {
        return List.of(0, 1, 2, 3);
    }

    /** Bytes of one result row: the fact's number and a value of each dimension. */
    int resultRowBytes() {
        return Integer.BYTES * (1 + dimensions);
    }

    void build(int dimension, Consumer<Chunk> sink) {
        int chunkRows = Math.min(buildRows, RingWorkload.BUILD_CHUNK_ROWS);
        ChunkBuilder builder = new ChunkBuilder(BUILD, chunkRows * BUILD.fixedRowBytes());
        for (int key = 0; key < buildRows; key++) {
            builder.putInt(0, key);
            builder.putInt(1, value(dimension, key));
            builder.endRow();
            if (builder.rowCount() == chunkRows || key == buildRows - 1) {
                sink.accept(builder.seal(dimension, ChunkDescriptor.UNPARTITIONED, 0, key));
            }
        }
    }

    RingWorkload.Facts facts(int chunks, int chunkRows, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        ChunkBuilder builder = new ChunkBuilder(FACTS, chunkRows * FACTS.fixedRowBytes());
        List<Chunk> facts = new ArrayList<>();
        long checksum = 0;
        for (int chunk = 0; chunk < chunks; chunk++) {
            for (int row = 0; row < chunkRows; row++) {
                long hash = 0;
                for (int c = 0; c < KEYS; c++) {
                    int key = random.nextInt(buildRows);
                    builder.putInt(c, key);
                    hash = c < dimensions ? hashed(hash, key, value(c, key)) : hash;
                }
                builder.endRow();
                checksum += hash;
            }
            facts.add(builder.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, chunk));
        }
        return new RingWorkload.Facts(facts, new JoinAnswer((long) chunks * chunkRows, checksum));
    }

    JoinAnswer answerOf(ResultBatch batch) {
        long sum = 0;
        for (int row = 0; row < batch.rowCount(); row++) {
            int fact = batch.probeRow(row);
            long hash = 0;
            for (int d = 0; d < dimensions; d++) {
                hash = hashed(hash, batch.chunk().getInt(d, fact), batch.getInt(d, 0, row));
            }
            sum += hash;
        }
        return new JoinAnswer(batch.rowCount(), sum);
    }

    private static int value(int dimension, int key) {
        return (int) KeyDomain.mix(16L * key + dimension);
    }

    private static long hashed(long hash, int key, int value) {
        return KeyDomain.mix(hash ^ ((long) key << 32 | value & 0xFFFF_FFFFL));
    }
}
