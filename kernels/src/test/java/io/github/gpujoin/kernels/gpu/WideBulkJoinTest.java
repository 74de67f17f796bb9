// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.bulk.BulkInput;
import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.bulk.BulkOutput;
import io.github.gpujoin.core.bulk.BulkResult;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Joins of rows that are longer than usual, on a device that the CPU emulates. */
class WideBulkJoinTest {

    private static final int COLUMNS = 40;
    private static final int ROWS = 1000;
    private static final ChunkSchema SCHEMA =
            ChunkSchema.of(
                    IntStream.range(0, COLUMNS)
                            .mapToObj(i -> Column.of("c" + i, ColumnType.INT64))
                            .toList());
    private static final BulkJoinSpec SPEC =
            new BulkJoinSpec(
                    new BulkInput("l", SCHEMA, List.of(0)),
                    new BulkInput("r", SCHEMA, List.of(0)),
                    BulkJoinKind.INNER,
                    false,
                    new BulkOutput.Rows(IntStream.range(0, COLUMNS).boxed().toList(), List.of(1)));

    /** Room for two open runs of 15.7 MB, but not for four times 2^17 rows of results. */
    private static final MemoryBudget BUDGET = new MemoryBudget(1L << 30, 100L << 20);

    private static Chunk chunk() {
        ChunkBuilder builder = new ChunkBuilder(SCHEMA, ROWS * COLUMNS * Long.BYTES);
        for (int row = 0; row < ROWS; row++) {
            for (int column = 0; column < COLUMNS; column++) {
                builder.putLong(column, (long) row * COLUMNS + column);
            }
            builder.endRow();
        }
        return builder.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, 0);
    }

    @Test
    void shouldPinBytesNotRowsForResults() throws InterruptedException {
        GpuOptions options = GpuOptions.defaults().withBulkThreads(8).withMemory(BUDGET);
        long[] rows = new long[1];
        try (GpuBulkJoin join = new GpuBulkJoin(SPEC, new HostBulkDevice().open(options), null)) {
            join.submit(JoinSide.LEFT, chunk());
            join.submit(JoinSide.RIGHT, chunk());
            join.finish();
            join.drain(result -> rows[0] += ((BulkResult.Rows) result).chunk().rowCount());
        }
        assertThat(rows[0]).isEqualTo(ROWS);
    }
}
