// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.encoding;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import java.util.Arrays;
import java.util.stream.IntStream;

/** Encoded chunks whose plans are given, so that all plans occur, not only the shortest ones. */
public final class PlannedChunks {

    private PlannedChunks() {}

    /**
     * Returns the chunk with encoded columns, or as it is if it has no rows. Plans rotate over the
     * columns and, by their sequence, the chunks. A column is plain where a plan is impossible.
     */
    public static byte[] encode(Chunk chunk) {
        if (chunk.rowCount() == 0) {
            return chunk.bytes();
        }
        int[] columns =
                IntStream.range(0, chunk.schema().size())
                        .filter(column -> chunk.schema().column(column).isFixed())
                        .toArray();
        ColumnEncoder encoder = new ColumnEncoder();
        int entry = ChunkDescriptor.HEADER_BYTES;
        int end = entry + columns.length * EncodedColumnDescriptor.ENTRY_BYTES;
        byte[] bytes = new byte[end];
        for (int column : columns) {
            encoder.load(chunk, column, 0, chunk.rowCount());
            encoder.use(plan(chunk.sequence() + column), Long.MAX_VALUE);
            if (encoder.bodyBytes() > Integer.MAX_VALUE) {
                encoder.use(EncodingPlan.PLAIN, Long.MAX_VALUE);
            }
            bytes = Arrays.copyOf(bytes, end + (int) encoder.bodyBytes());
            encoder.write(bytes, entry, end);
            entry += EncodedColumnDescriptor.ENTRY_BYTES;
            end = bytes.length;
        }
        return ChunkEncoder.withHeader(chunk, bytes, end);
    }

    private static EncodingPlan plan(long number) {
        return EncodingPlan.ALL.get(Math.floorMod(number, EncodingPlan.ALL.size()));
    }
}
