// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.flink;

import io.github.gpujoin.core.layout.Chunk;

/** Sends chunks as they are. */
final class WholeChunks implements RecordCutter<Chunk> {

    private static final long serialVersionUID = 1L;

    @Override
    public int rowsAt(Chunk chunk, int row) {
        return chunk.rowCount();
    }

    @Override
    public Chunk record(Chunk chunk, int row) {
        // The join releases what it is sent; the run sends its chunks more than once.
        chunk.retain();
        return chunk;
    }
}
