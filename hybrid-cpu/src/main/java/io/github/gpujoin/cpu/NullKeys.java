package io.github.gpujoin.cpu;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.PagedMemory;

/** Which keys of the facts that are looked up next are null. Not thread-safe. */
final class NullKeys {

    private final FactColumn column;
    private final long bits;

    /**
     * @param spec of a join with null keys
     * @param maxRows most facts looked up at once
     * @param memory outlives this object
     */
    NullKeys(JoinSpec spec, int maxRows, PagedMemory memory) {
        this.column = new FactColumn(spec, spec.nullKeysColumn());
        this.bits = memory.take(8L * maxRows);
    }

    /** Looks at some rows of a batch. */
    void load(Chunk chunk, MatchBatch rows, int firstRow, int count) {
        if (rows.isConsecutive()) {
            column.copy(chunk, rows.probeRow(firstRow), count, bits);
        } else {
            column.gather(chunk, rows.probeRows() + 4L * firstRow, count, bits);
        }
    }

    /** 1 where the dimension's key of the fact, counted from the first one loaded, is null. */
    int isNull(int dimension, int fact) {
        return (int) (Memory.getLong(bits + 8L * fact) >> dimension & 1);
    }
}
