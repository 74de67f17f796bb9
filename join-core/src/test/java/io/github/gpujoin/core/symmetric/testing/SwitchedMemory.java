// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.symmetric.testing;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.MemoryRefusedException;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.symmetric.SymmetricBatch;
import io.github.gpujoin.core.symmetric.SymmetricJoin;

/** Memory that is refused between the batches of a row. */
public final class SwitchedMemory implements MemoryReservations {

    private boolean refuses;

    /**
     * Joins a chunk.
     *
     * @param join in this memory, with nothing in flight
     * @return the number of batches that ended amid a row
     */
    public int joinRefusingAmidRows(SymmetricJoin join, int input, Chunk chunk) {
        join.submit(input, chunk, 0, 0);
        int batchesAmidRow = 0;
        SymmetricBatch batch;
        do {
            batch = join.poll();
            refuses = batch.endsAmidRow();
            batchesAmidRow += refuses ? 1 : 0;
        } while (!batch.isLast());
        return batchesAmidRow;
    }

    @Override
    public void reserve(long lengthBytes) {
        if (refuses) {
            throw new MemoryRefusedException("amid a row: lengthBytes=" + lengthBytes, null);
        }
    }

    @Override
    public void release(long lengthBytes) {}

    @Override
    public long availableBytes() {
        return refuses ? 0 : Long.MAX_VALUE;
    }
}
