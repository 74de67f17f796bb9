// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.symmetric;

import io.github.gpujoin.core.symmetric.SymmetricBatch;
import io.github.gpujoin.flink.exchange.RowCounts;
import java.io.Serializable;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/** Turns results of a symmetric join into records. Used by the task's thread. */
public interface SymmetricResultEmitter<OUT> {

    /** Creates the emitter of a subtask. Serialized with the job. */
    @FunctionalInterface
    interface Factory<OUT> extends Serializable {

        /**
         * Returns an emitter.
         *
         * @param rows counts rows that are emitted in chunks
         */
        SymmetricResultEmitter<OUT> create(RowCounts rows);
    }

    /** Emits all results of a batch, or keeps them until {@link #flush}. */
    void emit(SymmetricBatch batch, Output<StreamRecord<OUT>> output);

    /** Emits kept results. Called before a barrier, a watermark and the end of the input. */
    void flush(Output<StreamRecord<OUT>> output);
}
