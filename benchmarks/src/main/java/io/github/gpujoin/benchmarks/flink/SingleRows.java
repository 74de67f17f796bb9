// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.flink;

import io.github.gpujoin.benchmarks.workload.TupleSchemas;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Memory;
import java.util.Objects;

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
        byte[] bytes = Objects.requireNonNull(chunk.array());
        return maker.make(
                Memory.getLong(bytes, chunk.columnStart(TupleSchemas.KEY) + 8L * row),
                Memory.getLong(bytes, chunk.columnStart(TupleSchemas.PAYLOAD) + 8L * row));
    }
}
