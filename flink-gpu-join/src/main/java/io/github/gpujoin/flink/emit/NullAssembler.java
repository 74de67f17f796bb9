// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.engine.ResultBatch;
import org.jspecify.annotations.Nullable;

/** In place of records that are not in the result. */
final class NullAssembler<T> implements RecordAssembler<T> {

    @Override
    public void bind(ResultBatch batch) {}

    @Override
    public @Nullable T assemble(int row, int probeRow) {
        return null;
    }
}
