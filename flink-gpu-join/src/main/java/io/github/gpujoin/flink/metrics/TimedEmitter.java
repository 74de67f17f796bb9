// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.metrics;

import io.github.gpujoin.core.engine.GroupRows;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.flink.emit.ResultEmitter;
import io.github.gpujoin.flink.emit.UnmatchedBuildEmitter;
import io.github.gpujoin.flink.metrics.StageTimes.Stage;
import java.util.Optional;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * Measures the time of emission. A batch of 512 rows takes a few microseconds, so one batch in
 * {@value #SAMPLED} is timed and counts for all.
 */
public final class TimedEmitter<OUT> implements ResultEmitter<OUT> {

    static final int SAMPLED = 16;

    private final ResultEmitter<OUT> emitter;
    private final StageTimes times;
    private int batches;

    public TimedEmitter(ResultEmitter<OUT> emitter, StageTimes times) {
        this.emitter = emitter;
        this.times = times;
    }

    @Override
    public void emit(ResultBatch batch, int fromRow, int toRow, Output<StreamRecord<OUT>> output)
            throws Exception {
        if (batches++ % SAMPLED != 0) {
            emitter.emit(batch, fromRow, toRow, output);
            return;
        }
        long startNs = System.nanoTime();
        emitter.emit(batch, fromRow, toRow, output);
        times.add(Stage.EMIT, SAMPLED * (System.nanoTime() - startNs));
    }

    @Override
    public void completed(int completedRows, Output<StreamRecord<OUT>> output) throws Exception {
        emitter.completed(completedRows, output);
    }

    @Override
    public Optional<UnmatchedBuildEmitter<OUT>> unmatchedBuild() {
        return emitter.unmatchedBuild();
    }

    @Override
    public void emit(GroupRows groups, Output<StreamRecord<OUT>> output) throws Exception {
        long startNs = System.nanoTime();
        emitter.emit(groups, output);
        times.addSince(Stage.EMIT, startNs);
    }

    @Override
    public int sliceRows() {
        return emitter.sliceRows();
    }

    @Override
    public void flush(Output<StreamRecord<OUT>> output) throws Exception {
        long startNs = System.nanoTime();
        emitter.flush(output);
        times.addSince(Stage.EMIT, startNs);
    }

    @Override
    public void close() throws Exception {
        emitter.close();
    }
}
