// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.symmetric;

import io.github.gpujoin.core.layout.Chunk;

/** A chunk whose rows are in a table. Each block of 64 rows has consecutive ids. */
final class KeptChunk {

    final Chunk chunk;
    final ChunkLog log;
    final long timeMs;

    /** Blocks of ids, by row / 64. */
    final int[] blocks;

    /** Rows that are in the table. */
    int liveRows;

    boolean isFreed;

    KeptChunk(Chunk chunk, ChunkLog log, long timeMs, int[] blocks) {
        this.chunk = chunk;
        this.log = log;
        this.timeMs = timeMs;
        this.blocks = blocks;
    }

    int id(int row) {
        return ChunkIds.id(blocks, row);
    }

    int deadRows() {
        return chunk.rowCount() - liveRows;
    }

    /** Whether most rows are not in the table, so that copying the others frees memory. */
    boolean isSparse() {
        return liveRows < deadRows();
    }

    long lengthBytes() {
        return chunk.array().length;
    }
}
