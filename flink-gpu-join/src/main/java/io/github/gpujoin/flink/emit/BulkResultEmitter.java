// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.bulk.BulkOutput;
import io.github.gpujoin.core.bulk.BulkResult;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.bulk.ResultSides;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.layout.Chunk;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.IOUtils;
import org.jspecify.annotations.Nullable;

/**
 * Emits the results of a bulk join, whose left input is the probe side, by the emitter of an
 * engine's results. Not thread-safe.
 */
public final class BulkResultEmitter<OUT> implements AutoCloseable {

    private final ResultEmitter<OUT> emitter;

    /** Null if results are groups. */
    private final @Nullable BulkBatches batches;

    private final Output<StreamRecord<OUT>> output;

    /**
     * @param spec of {@code emitter}, with one dimension
     * @param bulk returns groups, or all columns of the left input, and of the right input the
     *     payload; all columns if it keeps rows of the right input
     */
    public BulkResultEmitter(
            JoinSpec spec,
            BulkJoinSpec bulk,
            ResultEmitter<OUT> emitter,
            Output<StreamRecord<OUT>> output) {
        this.emitter = emitter;
        this.batches =
                bulk.output() instanceof BulkOutput.Rows ? new BulkBatches(spec, bulk) : null;
        this.output = output;
    }

    public void emit(BulkResult result) throws Exception {
        if (result instanceof BulkResult.Groups groups) {
            emitter.emit(groups.groups(), output);
        } else if (result instanceof BulkResult.Rows rows) {
            if (rows.sides() == ResultSides.BOTH) {
                emit(batches.of(rows.chunk(), true));
            } else {
                JoinSide side = rows.sides() == ResultSides.LEFT ? JoinSide.LEFT : JoinSide.RIGHT;
                emitOneSided(side, rows.chunk());
            }
        } else {
            throw new IllegalStateException("Bulk join returned no rows: result=" + result);
        }
    }

    /**
     * Emits rows with columns of one side only.
     *
     * @param chunk with all columns of the side
     */
    public void emitOneSided(JoinSide side, Chunk chunk) throws Exception {
        if (side == JoinSide.LEFT) {
            emit(batches.of(chunk, false));
            return;
        }
        UnmatchedBuildEmitter<OUT> unmatched = emitter.unmatchedBuild().orElseThrow();
        for (int row = 0; row < chunk.rowCount(); row++) {
            unmatched.emitUnmatched(chunk, row, output);
        }
    }

    private void emit(ResultBatch batch) throws Exception {
        emitter.emit(batch, 0, batch.rowCount(), output);
        emitter.completed(batch.completedRows(), output);
    }

    /** Emits what the emitter kept. */
    public void flush() throws Exception {
        emitter.flush(output);
    }

    @Override
    public void close() throws Exception {
        IOUtils.closeAll(emitter, batches);
    }
}
