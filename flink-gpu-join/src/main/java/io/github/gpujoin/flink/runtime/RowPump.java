// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.core.engine.InFlightProbe;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.emit.ResultEmitter;
import io.github.gpujoin.flink.metrics.FanOutMonitor;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.runtime.streamrecord.StreamElement;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.function.ThrowingConsumer;
import org.apache.flink.util.function.ThrowingRunnable;
import org.jspecify.annotations.Nullable;

/**
 * Emits result rows of the engine. After each {@link #emitNext()} and {@link #flushEmitter()},
 * {@link #emitted} returns the exact progress.
 *
 * <p>Progress counts whole probe rows, because all engines agree on their order only. A batch may
 * end within a probe row. The results of that row are held back until the next turn, which does not
 * end before the row is whole.
 *
 * <pre>
 *   batch 1: rows 0 0 1 2 2 | completedRows=2    emit 0 0 1, hold back 2 2
 *   batch 2: rows 2 2 3     | completedRows=4    emit 2 2 (held), 2 2, 3
 * </pre>
 *
 * <p>A turn emits about one {@linkplain ResultEmitter#sliceRows() slice} of whole probe rows, so a
 * slow output does not occupy the thread for a whole batch.
 */
final class RowPump<OUT> implements ResultPump {

    private static final int NONE = -1;

    private final EnginePolls polls;
    private final ResultEmitter<OUT> emitter;
    private final Output<StreamRecord<OUT>> output;
    private final ThrowingConsumer<Chunk, Exception> onChunkCompleted;
    private final FanOutMonitor fanOut;
    private final ThrowingRunnable<Exception> checkNotCancelled;

    /** Batch with results held back from {@link #heldFrom} on, or null. */
    private @Nullable ResultBatch heldBatch;

    private int heldFrom;

    /** Batch whose whole probe rows are emitted up to {@link #cutFrom}, or null. */
    private @Nullable ResultBatch cutBatch;

    private int cutFrom;

    /**
     * @param checkNotCancelled throws if the task has been cancelled
     */
    RowPump(
            EnginePolls polls,
            ResultEmitter<OUT> emitter,
            Output<StreamRecord<OUT>> output,
            ThrowingConsumer<Chunk, Exception> onChunkCompleted,
            FanOutMonitor fanOut,
            ThrowingRunnable<Exception> checkNotCancelled) {
        this.polls = polls;
        this.emitter = emitter;
        this.output = output;
        this.onChunkCompleted = onChunkCompleted;
        this.fanOut = fanOut;
        this.checkNotCancelled = checkNotCancelled;
    }

    @Override
    public boolean emitNext() throws Exception {
        if (cutBatch != null) {
            emitSlice(cutBatch, cutFrom);
            return true;
        }
        int begunRow = emitHeldBack();
        boolean progressed = begunRow != NONE;
        do {
            ResultBatch batch = polls.poll();
            if (batch != null) {
                progressed = true;
                fanOut.accept(batch);
                begunRow = emit(batch, begunRow);
            }
            if (begunRow != NONE) {
                // The rest of the row follows; ending here would repeat the row after a restore.
                checkNotCancelled.run();
                Thread.onSpinWait();
            }
        } while (begunRow != NONE);
        return progressed;
    }

    @Override
    public void flushEmitter() throws Exception {
        emitter.flush(output);
    }

    @Override
    public void beforeBarrier() throws Exception {
        flushEmitter();
    }

    @Override
    public void pass(StreamElement element) throws Exception {
        flushEmitter();
        ResultPump.emit(element, output);
    }

    private int emitHeldBack() throws Exception {
        if (heldBatch == null) {
            return NONE;
        }
        ResultBatch batch = heldBatch;
        heldBatch = null;
        emitRows(batch, heldFrom, batch.rowCount());
        return batch.probeRow(batch.rowCount() - 1);
    }

    /** Emits whole probe rows; returns the row that has begun but is not whole, else NONE. */
    private int emit(ResultBatch batch, int begunRow) throws Exception {
        int whole = wholeRows(batch);
        if (whole == 0 && batch.rowCount() > 0) {
            // The batch holds one row that continues in the next batch, which would overwrite it.
            emitRows(batch, 0, batch.rowCount());
            return batch.probeRow(0);
        }
        if (begunRow == NONE) {
            emitSlice(batch, 0);
            return NONE;
        }
        // A chunk that visits its partition slice by slice repeats its rows, and no row is complete
        // before the last slice.
        emitRows(batch, 0, whole);
        finish(batch, whole);
        return begunRow < batch.completedRows() ? NONE : begunRow;
    }

    private void emitSlice(ResultBatch batch, int from) throws Exception {
        int whole = wholeRows(batch);
        int to = sliceEnd(batch, from, whole);
        emitRows(batch, from, to);
        if (to < whole) {
            cutBatch = batch;
            cutFrom = to;
            emitter.completed(batch.probeRow(to), output);
        } else {
            cutBatch = null;
            finish(batch, whole);
        }
    }

    private int sliceEnd(ResultBatch batch, int from, int whole) {
        if (whole - from <= emitter.sliceRows()) {
            return whole;
        }
        int end = from + emitter.sliceRows();
        while (end < whole && batch.probeRow(end) == batch.probeRow(end - 1)) {
            end++;
        }
        return end;
    }

    /** Marks the whole rows of the batch as emitted. */
    private void finish(ResultBatch batch, int whole) throws Exception {
        emitter.completed(batch.completedRows(), output);
        if (whole < batch.rowCount()) {
            heldBatch = batch;
            heldFrom = whole;
        }
        if (batch.isLast()) {
            onChunkCompleted.accept(batch.chunk());
        }
    }

    @Override
    public boolean holdsBatch() {
        return cutBatch != null;
    }

    @Override
    public List<InFlightProbe> emitted(List<InFlightProbe> inFlight) {
        if (cutBatch == null) {
            return inFlight;
        }
        List<InFlightProbe> emitted = new ArrayList<>(inFlight);
        if (!cutBatch.isLast()) {
            emitted.remove(0);
        }
        emitted.add(0, new InFlightProbe(cutBatch.chunk(), cutBatch.probeRow(cutFrom)));
        return emitted;
    }

    private void emitRows(ResultBatch batch, int fromRow, int toRow) throws Exception {
        if (fromRow < toRow) {
            emitter.emit(batch, fromRow, toRow, output);
        }
    }

    /** Number of results before the first one whose probe row is not complete; rows ascend. */
    private static int wholeRows(ResultBatch batch) {
        int low = 0;
        int high = batch.rowCount();
        if (high == 0 || batch.probeRow(high - 1) < batch.completedRows()) {
            return high;
        }
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (batch.probeRow(middle) < batch.completedRows()) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }
}
