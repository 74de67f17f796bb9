// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.flink;

import io.github.gpujoin.benchmarks.workload.TupleSchemas;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Memory;

/** Sends a record for each row. */
final class SingleRows<T> implements RecordCutter<T> {

    private static final long serialVersionUID = 1L;

    private final RowMaker<T> maker;

    SingleRows(RowMaker<T> maker) {
        this.maker = maker;
    }

    @Override
    public int rowsAt(Chunk chunk, int row) {
        return 1;
    }

    @Override
    public T record(Chunk chunk, int row) {
        // The row comes from the reader's own loop over rowCount, so the extent is known.
        byte[] bytes = chunk.bytes();
        long at = Memory.BYTES + 8L * row;
        return maker.make(
                Memory.getLong(bytes, at + chunk.columnOffset(TupleSchemas.KEY)),
                Memory.getLong(bytes, at + chunk.columnOffset(TupleSchemas.PAYLOAD)));
    }
}
