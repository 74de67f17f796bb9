// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.symmetric;

import java.util.ArrayList;
import java.util.List;

/** The kept chunks of one radix partition of a table, in the order in which they were added. */
final class ChunkLog {

    /** Dead rows below which copying the others does not pay off. */
    private static final int MIN_DEAD_ROWS = 4096;

    final int partition;
    final List<KeptChunk> chunks = new ArrayList<>();

    /** Rows of all chunks, and those of them that are in the table. */
    long rows;

    long liveRows;

    /** The next chunk that compaction looks at; 0 if it has not begun. */
    int cursor;

    /** The first chunk that may contain rows that have not expired. */
    int firstUnexpired;

    ChunkLog(int partition) {
        this.partition = partition;
    }

    void add(KeptChunk kept) {
        chunks.add(kept);
        rows += kept.chunk.rowCount();
    }

    boolean isMostlyDead() {
        return rows - liveRows > Math.max(liveRows, MIN_DEAD_ROWS);
    }

    /** Drops the chunks that were freed. Compaction has not begun. */
    void dropFreed() {
        chunks.removeIf(kept -> kept.isFreed);
        firstUnexpired = 0;
    }
}
