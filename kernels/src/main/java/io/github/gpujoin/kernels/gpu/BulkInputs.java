// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.bulk.JoinSide;

/** Receives both inputs of a bulk join. */
interface BulkInputs {

    BulkRunLayout layout(JoinSide side);

    /** Returns the bytes of the longest run. */
    default int maxRunBytes() {
        return Math.max(layout(JoinSide.LEFT).lengthBytes(), layout(JoinSide.RIGHT).lengthBytes());
    }

    /** Returns the sink of rows that are joined. */
    RunSink joined(JoinSide side);

    /** Returns the sink of rows that have no match because of a null in their key. */
    RunSink unjoined(JoinSide side);

    /**
     * Allocates device memory for key bytes, which all devices read. It remains until the join is
     * closed.
     *
     * @throws io.github.gpujoin.kernels.binding.GpuUnavailableException if there is no room
     */
    KeyArena.Slab allocateKeys(long lengthBytes) throws InterruptedException;
}
