// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.flink.emit.ResultEmitter;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/** Keeps results until it is flushed. */
final class KeepingEmitter implements ResultEmitter<String> {

    private final List<StreamRecord<String>> kept = new ArrayList<>();

    @Override
    public void emit(
            ResultBatch batch, int fromRow, int toRow, Output<StreamRecord<String>> output) {
        for (int row = fromRow; row < toRow; row++) {
            kept.add(new StreamRecord<>("row " + batch.probeRow(row)));
        }
    }

    @Override
    public void flush(Output<StreamRecord<String>> output) {
        kept.forEach(output::collect);
        kept.clear();
    }
}
