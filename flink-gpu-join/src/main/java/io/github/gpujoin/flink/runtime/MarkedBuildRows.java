// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.emit.ResultEmitter;
import io.github.gpujoin.flink.emit.UnmatchedBuildEmitter;
import io.github.gpujoin.flink.state.BuildLog;
import io.github.gpujoin.flink.state.BuildRowMarks;
import io.github.gpujoin.flink.state.PartitionKeys;
import java.util.function.IntConsumer;
import org.apache.flink.api.common.state.KeyedStateStore;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.jspecify.annotations.Nullable;

/**
 * Emits the build rows that no fact matched, each once. A row is marked when a result holds it,
 * with or without a fact, and marks are in state. So a snapshot may be taken between any two rows,
 * and the facts may end again after a restore.
 */
final class MarkedBuildRows<OUT> implements UnmatchedBuildRows {

    private enum State {
        FACTS_ARRIVE,
        FACTS_ENDED,
        EMITTED
    }

    private final UnmatchedBuildEmitter<OUT> emitter;
    private final BuildRowMarks marks;
    private final BuildLog.Reader log;
    private final Output<StreamRecord<OUT>> output;
    private State state = State.FACTS_ARRIVE;

    /** The log's chunk being read; null before the first and after the last. */
    private @Nullable Chunk chunk;

    private int nextRow;

    MarkedBuildRows(
            UnmatchedBuildEmitter<OUT> emitter,
            KeyedStateStore store,
            PartitionKeys keys,
            IntConsumer setCurrentKey,
            BuildLog.Reader log,
            Output<StreamRecord<OUT>> output) {
        this.emitter = emitter;
        this.marks = new BuildRowMarks(store, keys, setCurrentKey, emitter.numberColumn());
        this.log = log;
        this.output = output;
        emitter.onMatch(marks::mark);
    }

    @Override
    public Chunk numbered(Chunk chunk) {
        return marks.number(chunk);
    }

    @Override
    public void restored(int partition, long rows) {
        marks.count(partition, rows);
    }

    @Override
    public void restore() throws Exception {
        marks.restore();
    }

    @Override
    public void snapshot() throws Exception {
        marks.snapshot();
    }

    @Override
    public boolean endFacts() {
        boolean isFirstEnd = state == State.FACTS_ARRIVE;
        state = isFirstEnd ? State.FACTS_ENDED : state;
        return isFirstEnd;
    }

    @Override
    public boolean isDue() {
        return state == State.FACTS_ENDED;
    }

    @Override
    public void emitSome() throws Exception {
        if (chunk == null || nextRow == chunk.rowCount()) {
            chunk = log.next();
            nextRow = 0;
        }
        if (chunk == null) {
            state = State.EMITTED;
            return;
        }
        int end = Math.min(chunk.rowCount(), nextRow + ResultEmitter.SLICE_ROWS);
        for (; nextRow < end; nextRow++) {
            int row = nextRow;
            long number = marks.number(chunk, row);
            if (!marks.isMarked(chunk.partition(), number)) {
                emitter.emitUnmatched(chunk, row, output);
                marks.mark(chunk.partition(), number);
            }
        }
    }
}
