// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.layout;

import org.jspecify.annotations.Nullable;

/** Where a {@link ChunkBuilder} seals its chunks. */
@FunctionalInterface
public interface ChunkSlots {

    /** Seals every chunk on the heap. */
    ChunkSlots NONE = lengthBytes -> null;

    /**
     * Returns a slot for a chunk, with one user. Never waits.
     *
     * @param lengthBytes of the chunk
     * @return null if no slot is free, or the chunk is longer than a slot; the chunk is then sealed
     *     on the heap
     */
    @Nullable ChunkSlot tryAcquire(int lengthBytes);
}
