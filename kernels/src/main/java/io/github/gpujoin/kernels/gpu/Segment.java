// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSlot;
import org.jspecify.annotations.Nullable;

/**
 * Rows of a chunk in a slot and the steps posted for them: the step whose results are emitted next,
 * in {@code buffer}, and the step after it, in the other buffer.
 */
final class Segment {

    /** Ticket of a step that is not posted. */
    static final long NOT_POSTED = -1;

    final Chunk chunk;
    final int firstRow;
    final int rowCount;
    final int slot;
    final long sequence;
    final int lengthBytes;

    /** Null if the rows were copied to the slot. */
    final StepRing.@Nullable InPlaceChunk inPlace;

    int buffer;
    int completedRows;
    boolean resume;
    long ticket = NOT_POSTED;
    long nextTicket = NOT_POSTED;

    /** Whether this segment is a user of the chunk's slot, which the kernel reads. */
    private boolean usesChunk;

    Segment(
            Chunk chunk,
            int firstRow,
            int rowCount,
            int slot,
            long sequence,
            int lengthBytes,
            StepRing.@Nullable InPlaceChunk inPlace) {
        this.chunk = chunk;
        this.firstRow = firstRow;
        this.rowCount = rowCount;
        this.slot = slot;
        this.sequence = sequence;
        this.lengthBytes = lengthBytes;
        this.inPlace = inPlace;
        if (inPlace != null) {
            chunk.retain();
            usesChunk = true;
        }
    }

    /** Releases the chunk, which the kernel no longer reads. */
    void releaseChunk() {
        if (usesChunk) {
            usesChunk = false;
            chunk.release();
        }
    }

    /**
     * Verifies that a chunk that the kernel reads in place is what its writer sent.
     *
     * @throws RuntimeException if not
     */
    void requireIntact() {
        if (inPlace != null) {
            chunk.verify();
            ChunkSlot slot = chunk.slot();
            if (slot != null) {
                slot.requireIntact();
            }
        }
    }

    /** Returns the epoch in the header that the kernel reads. */
    long epoch(long ofSegments) {
        return inPlace == null ? ofSegments : chunk.epoch();
    }

    /** Returns the sequence in the header that the kernel reads. */
    long headerSequence() {
        return inPlace == null ? sequence : chunk.sequence();
    }
}
