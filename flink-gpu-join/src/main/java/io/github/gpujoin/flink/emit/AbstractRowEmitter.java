// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.region.Memory;
import java.util.Objects;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/** Emits one record for each row, at once. Records are made by blocks of rows. */
abstract class AbstractRowEmitter<OUT> implements ResultEmitter<OUT> {

    /** Rows of a block, few enough that its records stay in a core's cache. */
    static final int BLOCK_ROWS = 256;

    private final FactTimestamps timestamps;
    private final StreamRecord<OUT> element = new StreamRecord<>(null);

    AbstractRowEmitter(JoinSpec spec) {
        this.timestamps = new FactTimestamps(spec);
    }

    abstract void bind(ResultBatch batch);

    /**
     * Makes records of some rows.
     *
     * @param probeRows address of the batch's probe row numbers
     * @param into receives the record of row {@code fromRow + i} at i
     */
    abstract void records(int fromRow, int toRow, long probeRows, Object[] into) throws Exception;

    @Override
    @SuppressWarnings("unchecked")
    public final void emit(
            ResultBatch batch, int fromRow, int toRow, Output<StreamRecord<OUT>> output)
            throws Exception {
        Objects.checkFromToIndex(fromRow, toRow, batch.rowCount());
        bind(batch);
        timestamps.bind(batch.chunk());
        long probeRows = batch.probeRowAddress();
        for (int begin = fromRow; begin < toRow; begin += BLOCK_ROWS) {
            int end = Math.min(toRow, begin + BLOCK_ROWS);
            // A new array is young, so that storing references in it costs no barrier.
            Object[] records = new Object[end - begin];
            records(begin, end, probeRows, records);
            for (int row = begin; row < end; row++) {
                timestamps.apply(Memory.getInt(probeRows + 4L * row), element);
                output.collect(element.replace((OUT) records[row - begin]));
            }
        }
    }
}
