// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.engine.ResultLayout;

/** The kernel writes results in the layout in which the host reads them. */
final class PlainResults implements ResultFormat {

    private final JoinSpec spec;
    private final ResultLayout layout;

    PlainResults(JoinSpec spec, int capacityRows) {
        this.spec = spec;
        this.layout = new ResultLayout(spec, capacityRows);
    }

    @Override
    public long bufferBytes() {
        return layout.lengthBytes();
    }

    @Override
    public int capacityRows() {
        return layout.capacityRows();
    }

    @Override
    public boolean isPacked() {
        return false;
    }

    @Override
    public ResultColumn column(int dimension, int payload) {
        return payload == layout.payloadCount(dimension)
                ? ResultColumn.whole(layout.variableWidthOffset(dimension), Long.BYTES)
                : ResultColumn.whole(
                        layout.payloadOffset(dimension, payload),
                        layout.payloadWidth(dimension, payload));
    }

    @Override
    public long matchedOffset(int dimension) {
        return Math.max(0, layout.matchedOffset(dimension));
    }

    @Override
    public double resultBytes() {
        return (double) layout.lengthBytes() / layout.capacityRows();
    }

    @Override
    public ResultLayout newLayout() {
        return new ResultLayout(spec, layout.capacityRows());
    }

    @Override
    public Reader newReader(ResultLayout ofBatches) {
        return (buffer, chunk, firstRow, rowCount, completedRows) -> {
            ResultBatch batch = new ResultBatch(ofBatches, buffer);
            batch.set(chunk, rowCount, completedRows);
            return batch;
        };
    }
}
