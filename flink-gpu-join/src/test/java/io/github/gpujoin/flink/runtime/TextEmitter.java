// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.flink.emit.ResultEmitter;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/** Emits results as {@code "fact|dimension"}. */
public final class TextEmitter implements ResultEmitter<String> {

    @Override
    public void emit(
            ResultBatch batch, int fromRow, int toRow, Output<StreamRecord<String>> output) {
        for (int row = fromRow; row < toRow; row++) {
            long number = batch.chunk().getLong(1, batch.probeRow(row));
            output.collect(new StreamRecord<>(number + "|" + batch.getLong(0, 0, row)));
        }
    }
}
