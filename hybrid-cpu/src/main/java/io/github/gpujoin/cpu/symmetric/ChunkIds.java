// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.symmetric;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.MemoryReservations;
import java.io.IOException;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * The ids of the rows of kept chunks. Ids are allocated by blocks, and reused after their chunk was
 * freed, so that the largest id is bounded by the rows that are kept at the same time.
 */
final class ChunkIds {

    static final int BLOCK_ROWS = 64;
    private static final int BLOCK_SHIFT = 6;
    private static final int ROW_MASK = BLOCK_ROWS - 1;

    /** The highest bit of a link is a flag, and an id + 1 must fit the others. */
    private static final int MAX_BLOCKS = (1 << 30) / BLOCK_ROWS;

    private final String inputName;
    private final MemoryReservations memory;
    private KeptChunk[] chunks = new KeptChunk[64];
    private int[] firstRows = new int[64];

    /** Whether a row is in the table, a bit for each row of a block. */
    private long[] live = new long[64];

    private int[] freeBlocks = new int[16];
    private int freeCount;
    private int blockCount;

    /** Kept chunks on the heap, in the order in which they were kept. */
    private final Set<KeptChunk> onHeap = new LinkedHashSet<>();

    private long heapBytes;
    private long spilledBytes;

    ChunkIds(String inputName, MemoryReservations memory) {
        this.inputName = inputName;
        this.memory = memory;
    }

    /** Returns the bytes of kept chunks on the heap. */
    long heapBytes() {
        return heapBytes;
    }

    /** Returns the bytes of kept chunks in files. */
    long spilledBytes() {
        return spilledBytes;
    }

    /** Returns the largest id that was ever allocated, or -1. */
    int lastId() {
        return blockCount * BLOCK_ROWS - 1;
    }

    /** Allocates ids for the rows of a chunk. */
    KeptChunk keep(Chunk chunk, ChunkLog log, long timeMs) {
        int[] blocks = new int[(chunk.rowCount() + BLOCK_ROWS - 1) / BLOCK_ROWS];
        if (blocks.length - freeCount > MAX_BLOCKS - blockCount) {
            throw new IllegalStateException(
                    "Too many rows in a subtask: input=%s, rows=%d. Raise the parallelism."
                            .formatted(inputName, (long) blockCount * BLOCK_ROWS));
        }
        KeptChunk kept = new KeptChunk(chunk, log, timeMs, blocks);
        memory.reserve(kept.heapBytes());
        heapBytes += kept.heapBytes();
        onHeap.add(kept);
        for (int i = 0; i < blocks.length; i++) {
            blocks[i] = freeCount > 0 ? freeBlocks[--freeCount] : newBlock();
            chunks[blocks[i]] = kept;
            firstRows[blocks[i]] = i * BLOCK_ROWS;
        }
        return kept;
    }

    private int newBlock() {
        if (blockCount == chunks.length) {
            chunks = Arrays.copyOf(chunks, 2 * blockCount);
            firstRows = Arrays.copyOf(firstRows, 2 * blockCount);
            live = Arrays.copyOf(live, 2 * blockCount);
        }
        return blockCount++;
    }

    /** Frees the ids of a chunk without rows in the table. */
    void free(KeptChunk kept) {
        if (freeCount + kept.blocks.length > freeBlocks.length) {
            freeBlocks = Arrays.copyOf(freeBlocks, 2 * (freeCount + kept.blocks.length));
        }
        for (int block : kept.blocks) {
            chunks[block] = null;
            freeBlocks[freeCount++] = block;
        }
        if (kept.isSpilled()) {
            spilledBytes -= kept.chunk.lengthBytes();
        } else {
            onHeap.remove(kept);
            release(kept.heapBytes());
        }
        kept.chunk.release();
        kept.chunk = null;
    }

    private void release(long bytes) {
        heapBytes -= bytes;
        memory.release(bytes);
    }

    /**
     * Moves chunks from the heap to files, in the order in which they were kept, until some bytes
     * are released or no chunk is left.
     *
     * @return the bytes that were released
     * @throws IOException if the files cannot be written; chunks before the failure are moved
     */
    long spill(ChunkFiles files, long lengthBytes) throws IOException {
        long released = 0;
        Iterator<KeptChunk> oldest = onHeap.iterator();
        while (released < lengthBytes && oldest.hasNext()) {
            KeptChunk kept = oldest.next();
            long bytes = kept.heapBytes();
            files.move(kept);
            oldest.remove();
            release(bytes);
            released += bytes;
            spilledBytes += kept.chunk.lengthBytes();
        }
        return released;
    }

    /** Returns the id of a row of a chunk with these blocks. */
    static int id(int[] blocks, int row) {
        return blocks[row >> BLOCK_SHIFT] << BLOCK_SHIFT | row & ROW_MASK;
    }

    KeptChunk chunk(int id) {
        return chunks[id >> BLOCK_SHIFT];
    }

    int row(int id) {
        return firstRows[id >> BLOCK_SHIFT] + (id & ROW_MASK);
    }

    boolean isLive(int id) {
        return (live[id >> BLOCK_SHIFT] >>> id & 1) != 0;
    }

    void setLive(int id) {
        live[id >> BLOCK_SHIFT] |= 1L << id;
        chunks[id >> BLOCK_SHIFT].liveRows++;
    }

    /** Returns the number of rows of the chunk that are in the table without this one. */
    int setDead(int id) {
        live[id >> BLOCK_SHIFT] &= ~(1L << id);
        return --chunks[id >> BLOCK_SHIFT].liveRows;
    }

    void close() {
        release(heapBytes);
    }
}
