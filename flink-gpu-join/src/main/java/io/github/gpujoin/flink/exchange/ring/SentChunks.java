// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import io.github.gpujoin.core.layout.Chunk;

/** Receives what a sender emits to Flink's channels, in the order of each channel. */
@FunctionalInterface
interface SentChunks {

    /**
     * Emits a chunk itself, or its ticket. Both have the same partition, so they reach the same
     * subtask.
     *
     * @param sent the chunk, or the ticket of a chunk in a slot
     * @param slotBytes of the chunk in its slot; 0 for the chunk itself
     */
    void emit(Chunk chunk, Chunk sent, int slotBytes);
}
