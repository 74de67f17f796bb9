// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.flink;

import io.github.gpujoin.core.encoding.EncodedChunk;
import io.github.gpujoin.core.encoding.EncodedColumnReader;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.region.Memory;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Result rows in columns, all of them payloads. */
final class ChunkTally implements Tally<Chunk> {

    private static final long serialVersionUID = 1L;

    @Override
    public int rows(Chunk result) {
        return result.rowCount();
    }

    /** Of each column; null before the first encoded chunk. */
    private transient EncodedColumnReader @Nullable [] readers;

    @Override
    public long payloads(Chunk result, int firstRow, int count) {
        long sum = 0;
        for (int column = 0; column < result.schema().size(); column++) {
            sum +=
                    result instanceof EncodedChunk encoded
                            ? encodedSum(encoded, column, firstRow, count)
                            : columnSum(result, column, firstRow, count);
        }
        return sum;
    }

    private long encodedSum(EncodedChunk chunk, int column, int firstRow, int count) {
        if (readers == null) {
            readers = new EncodedColumnReader[chunk.schema().size()];
            Arrays.setAll(readers, EncodedColumnReader::new);
        }
        return sum(readers[column].load(chunk, firstRow, count), Memory.BYTES, count);
    }

    private static long columnSum(Chunk chunk, int column, int firstRow, int count) {
        if (chunk.schema().column(column).type() != ColumnType.INT64) {
            throw new IllegalArgumentException(
                    "Payload column is not INT64: column=" + chunk.schema().column(column));
        }
        byte[] bytes = Objects.requireNonNull(chunk.array());
        return sum(bytes, chunk.columnStart(column) + 8L * firstRow, count);
    }

    private static long sum(byte[] bytes, long start, int count) {
        long end = start + 8L * count;
        long sum = 0;
        for (long at = start; at < end; at += 8) {
            sum += Memory.getLong(bytes, at);
        }
        return sum;
    }
}
