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

    /** Chunks that were freed and are still in the list. */
    private int freedCount;

    /** The first chunk that may contain rows that have not expired. */
    int firstUnexpired;

    ChunkLog(int partition) {
        this.partition = partition;
    }

    void add(KeptChunk kept) {
        chunks.add(kept);
        rows += kept.chunk.rowCount();
    }

    /** Whether less than a quarter of the rows are in the table, so that some chunk is sparse. */
    boolean isMostlyDead() {
        return rows - liveRows > Math.max(3 * liveRows, MIN_DEAD_ROWS);
    }

    /**
     * Counts a chunk that was freed. Drops such chunks when they are most of the list, unless
     * compaction is amid it.
     */
    void freed(int freedRows) {
        rows -= freedRows;
        freedCount++;
        if (freedCount > chunks.size() / 2 && cursor == 0) {
            dropFreed();
        }
    }

    /** Drops the chunks that were freed from the list. Compaction is not amid it. */
    void dropFreed() {
        chunks.removeIf(KeptChunk::isFreed);
        freedCount = 0;
        firstUnexpired = 0;
    }
}
