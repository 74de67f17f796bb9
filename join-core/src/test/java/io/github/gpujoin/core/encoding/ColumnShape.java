// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.encoding;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.region.Memory;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.LongSupplier;

/** Columns of the shapes that data has, in chunks of one column. */
enum ColumnShape {
    CONSTANT {
        @Override
        LongSupplier values(Random random) {
            long value = random.nextLong();
            return () -> value;
        }
    },
    SORTED {
        @Override
        LongSupplier values(Random random) {
            long[] last = {random.nextInt()};
            return () -> last[0] += random.nextInt(4);
        }
    },
    SEQUENCE {
        @Override
        LongSupplier values(Random random) {
            long[] last = {random.nextInt()};
            return () -> last[0] += 3;
        }
    },
    CLUSTERED {
        @Override
        LongSupplier values(Random random) {
            long[] state = {0, 0};
            return () -> {
                if (state[1]-- == 0) {
                    state[0] = random.nextInt(1 << 20);
                    state[1] = random.nextInt(40);
                }
                return state[0];
            };
        }
    },
    ZIPF {
        @Override
        LongSupplier values(Random random) {
            // The inverse of the distribution function of exponent 1, over 2^16 values.
            return () -> SPREAD * (long) Math.exp(random.nextDouble() * Math.log(1 << 16));
        }
    },
    LOW_CARDINALITY {
        @Override
        LongSupplier values(Random random) {
            long[] values = random.longs(25).toArray();
            return () -> values[random.nextInt(values.length)];
        }
    },
    SMALL_RANGE {
        @Override
        LongSupplier values(Random random) {
            return () -> 1_000_000 + random.nextInt(1 << 27);
        }
    },
    RANDOM {
        @Override
        LongSupplier values(Random random) {
            return random::nextLong;
        }
    },
    EXTREMES {
        @Override
        LongSupplier values(Random random) {
            long[] values = {Long.MIN_VALUE, Long.MAX_VALUE, 0, -1, Integer.MIN_VALUE};
            return () -> values[random.nextInt(values.length)];
        }
    },
    /** {@code l_orderkey} in file order: 1 to 7 lines an order, and 8 of 32 keys (TPC-H, 4.2.3). */
    LINEITEM_ORDER_KEY {
        @Override
        LongSupplier values(Random random) {
            long[] state = {0, 0};
            return () -> {
                if (state[1]-- == 0) {
                    state[0]++;
                    state[1] = random.nextInt(7);
                }
                return state[0] >> 3 << 5 | state[0] & 7;
            };
        }
    };

    private static final long SPREAD = 0x2545F4914F6CDDL;

    /** Returns the values of the rows, one after the other. */
    abstract LongSupplier values(Random random);

    /**
     * Returns chunks of one column, cut from one run of values.
     *
     * @param rowsOfChunk rows of every chunk
     */
    List<Chunk> chunks(ColumnType type, int chunkCount, int rowsOfChunk, long seed) {
        LongSupplier values = values(new Random(seed));
        ChunkSchema schema = ChunkSchema.of(Column.of("value", type));
        int widthBytes = type.widthBytes();
        ChunkBuilder builder = new ChunkBuilder(schema, Math.max(1, rowsOfChunk * widthBytes));
        List<Chunk> chunks = new ArrayList<>();
        for (int i = 0; i < chunkCount; i++) {
            for (int row = 0; row < rowsOfChunk; row++) {
                long at = Memory.BYTES + builder.columnOffset(0) + (long) widthBytes * row;
                Memory.putInteger(builder.array(), at, widthBytes, values.getAsLong());
            }
            builder.advance(rowsOfChunk);
            chunks.add(builder.seal(0, 0, 1, i));
        }
        return chunks;
    }
}
