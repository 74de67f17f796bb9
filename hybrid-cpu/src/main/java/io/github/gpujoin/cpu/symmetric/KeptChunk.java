// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.symmetric;

import io.github.gpujoin.core.layout.Chunk;

/** A chunk whose rows are in a table. Each block of 64 rows has consecutive ids. */
final class KeptChunk {

    /** On the heap, or in a file after it was spilled; null after it was freed. */
    Chunk chunk;

    final ChunkLog log;
    final long timeMs;

    /** Blocks of ids, by row / 64. */
    final int[] blocks;

    /** Rows that are in the table. */
    int liveRows;

    KeptChunk(Chunk chunk, ChunkLog log, long timeMs, int[] blocks) {
        this.chunk = chunk;
        this.log = log;
        this.timeMs = timeMs;
        this.blocks = blocks;
    }

    boolean isFreed() {
        return chunk == null;
    }

    int id(int row) {
        return ChunkIds.id(blocks, row);
    }

    /** Whether less than a quarter of the rows are in the table: copying one frees three others. */
    boolean isSparse() {
        return 3L * liveRows < chunk.rowCount() - liveRows;
    }

    boolean isSpilled() {
        return chunk.array() == null;
    }

    /** Returns the bytes on the heap. */
    long heapBytes() {
        return isSpilled() ? 0 : chunk.array().length;
    }
}
