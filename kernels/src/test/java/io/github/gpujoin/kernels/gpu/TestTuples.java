// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.bulk.BulkInput;
import io.github.gpujoin.core.bulk.BulkJoin;
import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.bulk.BulkOutput;
import io.github.gpujoin.core.bulk.BulkResult;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.bulk.testing.BulkRun;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.reference.ReferenceBulkJoin;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongUnaryOperator;

/** Bulk joins of a key and a row number, with more rows than a run has. */
final class TestTuples {

    private static final ChunkSchema TUPLES =
            ChunkSchema.of(Column.of("key", ColumnType.INT64), Column.of("row", ColumnType.INT64));

    private static final int CHUNK_ROWS = 10_000;

    private TestTuples() {}

    static BulkJoinSpec spec(BulkJoinKind kind, BulkOutput output) {
        return new BulkJoinSpec(
                new BulkInput("l", TUPLES, List.of(0)),
                new BulkInput("r", TUPLES, List.of(0)),
                kind,
                false,
                output);
    }

    /** Returns a join whose results have all columns of the inputs that it returns. */
    static BulkJoinSpec rows(BulkJoinKind kind) {
        return spec(
                kind,
                new BulkOutput.Rows(
                        List.of(0, 1), kind.returns(JoinSide.RIGHT) ? List.of(1, 0) : List.of()));
    }

    static List<Chunk> chunks(int rows, LongUnaryOperator keys) {
        List<Chunk> chunks = new ArrayList<>();
        for (int first = 0; first < rows; first += CHUNK_ROWS) {
            ChunkBuilder builder = new ChunkBuilder(TUPLES, 16 * CHUNK_ROWS);
            for (int row = first; row < Math.min(rows, first + CHUNK_ROWS); row++) {
                builder.putLong(0, keys.applyAsLong(row));
                builder.putLong(1, row);
                builder.endRow();
            }
            chunks.add(builder.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, 0));
        }
        return chunks;
    }

    /** Returns what {@link #summary} returns for a correct join. */
    static List<Long> expected(BulkJoinSpec spec, List<Chunk> left, List<Chunk> right)
            throws InterruptedException {
        try (BulkJoin reference = new ReferenceBulkJoin(spec)) {
            return summary(reference, left, right);
        }
    }

    /** Returns results, and a checksum of their values that does not depend on their order. */
    static List<Long> summary(BulkJoin join, List<Chunk> left, List<Chunk> right)
            throws InterruptedException {
        BulkRun.submit(join, left, right, 1);
        join.finish();
        long[] sums = new long[2];
        join.drain(
                result -> {
                    BulkResult.Rows rows = (BulkResult.Rows) result;
                    Chunk chunk = rows.chunk();
                    sums[0] += chunk.rowCount();
                    for (int row = 0; row < chunk.rowCount(); row++) {
                        long hash = rows.sides().ordinal();
                        for (int column = 0; column < chunk.schema().size(); column++) {
                            hash = (hash + chunk.getLong(column, row)) * 0x9E3779B97F4A7C15L;
                            hash ^= hash >>> 29;
                        }
                        sums[1] += hash;
                    }
                });
        return List.of(sums[0], sums[1]);
    }
}
