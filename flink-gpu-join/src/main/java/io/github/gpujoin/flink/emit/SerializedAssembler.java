// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.engine.ResultBatch;
import java.io.IOException;

/** Reads records that are serialized in one column. */
final class SerializedAssembler<T> implements RecordAssembler<T> {

    private final FieldReader reader;

    SerializedAssembler(FieldReader reader) {
        this.reader = reader;
    }

    @Override
    public void bind(ResultBatch batch) {
        reader.bind(batch);
    }

    @Override
    public void load(int fromRow, int toRow) {
        reader.load(fromRow, toRow);
    }

    @Override
    @SuppressWarnings("unchecked")
    public T assemble(int row, int probeRow) throws IOException {
        return (T) reader.value(row, probeRow);
    }
}
