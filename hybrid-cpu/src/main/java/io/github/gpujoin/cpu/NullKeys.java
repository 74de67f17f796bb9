// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.PagedMemory;

/** Marks which keys of the next facts are null. Not thread-safe. */
final class NullKeys {

    private final FactColumn column;
    private final long bits;

    /**
     * @param spec of a join with null keys
     * @param maxRows limit of the facts of one lookup
     * @param memory outlives this object
     */
    NullKeys(JoinSpec spec, int maxRows, PagedMemory memory) {
        this.column = new FactColumn(spec, spec.nullKeysColumn());
        this.bits = memory.allocate(8L * maxRows);
    }

    /** Loads the null bits of some rows of a batch. */
    void load(Chunk chunk, MatchBatch rows, int firstRow, int count) {
        if (rows.isConsecutive()) {
            column.copy(chunk, rows.probeRow(firstRow), count, bits);
        } else {
            column.gather(chunk, rows.probeRows() + 4L * firstRow, count, bits);
        }
    }

    /**
     * Returns 1 if the key of a fact is null, else 0.
     *
     * @param fact index relative to the first fact loaded
     */
    int isNull(int dimension, int fact) {
        return (int) (Memory.getLong(bits + 8L * fact) >> dimension & 1);
    }
}
