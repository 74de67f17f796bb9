// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import io.github.gpujoin.core.engine.JoinColumn;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.PagedMemory;
import org.jspecify.annotations.Nullable;

/** An integer column of result batches, widened to 64 bits. Not thread-safe. */
final class BatchColumn implements LongColumn<ResultBatch> {

    private final @Nullable FactColumn factColumn;
    private final int dimension;
    private final int payload;
    private final int widthBytes;
    private final long scratch;

    /**
     * @param maxRows limit of the rows of a batch
     * @param memory outlives this object
     */
    BatchColumn(JoinSpec spec, JoinColumn column, int maxRows, PagedMemory memory) {
        this.dimension = column.side();
        this.factColumn = column.isFact() ? new FactColumn(spec, column.column()) : null;
        this.payload =
                column.isFact()
                        ? -1
                        : spec.dimensions()
                                .get(dimension)
                                .payloadColumns()
                                .indexOf(column.column());
        this.widthBytes = column.type(spec).widthBytes();
        boolean isInPlace = !column.isFact() && widthBytes == Long.BYTES;
        this.scratch = isInPlace ? 0 : memory.allocate(8L * maxRows);
    }

    @Override
    public long load(ResultBatch batch) {
        int count = batch.rowCount();
        if (factColumn != null) {
            factColumn.gather(batch.chunk(), batch.probeRowAddress(), count, scratch);
            return scratch;
        }
        long values = batch.payloadAddress(dimension, payload);
        if (widthBytes == Long.BYTES) {
            return values;
        }
        if (widthBytes < Integer.BYTES) {
            NarrowIntegers.widen(null, values, widthBytes, count, scratch);
            return scratch;
        }
        for (int i = 0; i < count; i++) {
            Memory.putLong(scratch + 8L * i, Memory.getInt(values + 4L * i));
        }
        return scratch;
    }
}
