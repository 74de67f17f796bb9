// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.region.Memory;
import java.util.Objects;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/** Emits one record for each row, at once. */
abstract class AbstractRowEmitter<OUT> implements ResultEmitter<OUT> {

    private final FactTimestamps timestamps;
    private final StreamRecord<OUT> element = new StreamRecord<>(null);

    AbstractRowEmitter(JoinSpec spec) {
        this.timestamps = new FactTimestamps(spec);
    }

    abstract void bind(ResultBatch batch);

    /** Loads values of some rows ahead of {@link #record}. */
    void load(int fromRow, int toRow) {}

    abstract OUT record(int row, int probeRow) throws Exception;

    @Override
    public final void emit(
            ResultBatch batch, int fromRow, int toRow, Output<StreamRecord<OUT>> output)
            throws Exception {
        Objects.checkFromToIndex(fromRow, toRow, batch.rowCount());
        bind(batch);
        load(fromRow, toRow);
        timestamps.bind(batch.chunk());
        long probeRows = batch.probeRowAddress();
        for (int row = fromRow; row < toRow; row++) {
            int probeRow = Memory.getInt(probeRows + 4L * row);
            timestamps.apply(probeRow, element);
            output.collect(element.replace(record(row, probeRow)));
        }
    }
}
