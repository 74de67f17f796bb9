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

/**
 * Emits the build rows that no fact matched, each once, after the last fact of a right or full
 * join. A row is marked when a result holds it, with a fact or without, and marks are in state. So
 * a snapshot may be taken between any two rows, and the facts may end again after a restore.
 */
final class UnmatchedBuildRows<OUT> {

    private enum State {
        /** The join drops such rows; nothing is marked. */
        DROPPED,
        FACTS_ARRIVE,
        FACTS_ENDED,
        EMITTED
    }

    private final UnmatchedBuildEmitter<OUT> emitter;
    private final BuildRowMarks marks;
    private final BuildLog.Reader log;
    private final Output<StreamRecord<OUT>> output;
    private State state;

    /** The log's chunk being read; null before the first and after the last. */
    private Chunk chunk;

    private int nextRow;

    private UnmatchedBuildRows(
            UnmatchedBuildEmitter<OUT> emitter,
            BuildRowMarks marks,
            BuildLog.Reader log,
            Output<StreamRecord<OUT>> output) {
        this.emitter = emitter;
        this.marks = marks;
        this.log = log;
        this.output = output;
        this.state = emitter == null ? State.DROPPED : State.FACTS_ARRIVE;
    }

    /**
     * @param results emits such rows, if the join keeps them
     * @param setCurrentKey of the operator that owns the keyed state
     * @param log of the build side, read once
     */
    static <OUT> UnmatchedBuildRows<OUT> of(
            ResultEmitter<OUT> results,
            KeyedStateStore store,
            PartitionKeys keys,
            IntConsumer setCurrentKey,
            BuildLog.Reader log,
            Output<StreamRecord<OUT>> output) {
        UnmatchedBuildEmitter<OUT> emitter = results.unmatchedBuild().orElse(null);
        if (emitter == null) {
            return new UnmatchedBuildRows<>(null, null, log, output);
        }
        BuildRowMarks marks = new BuildRowMarks(store, keys, setCurrentKey, emitter.numberColumn());
        emitter.onMatch(marks::mark);
        return new UnmatchedBuildRows<>(emitter, marks, log, output);
    }

    /** The chunk for the log, with numbers that follow those before it. */
    Chunk numbered(Chunk chunk) {
        return state == State.DROPPED ? chunk : marks.number(chunk);
    }

    /** Counts numbered rows of a restored log. */
    void restored(int partition, long rows) {
        if (state != State.DROPPED) {
            marks.count(partition, rows);
        }
    }

    /** Reads the marks of a snapshot. */
    void restore() throws Exception {
        if (state != State.DROPPED) {
            marks.restore();
        }
    }

    /** Writes the marks to the state. */
    void snapshot() throws Exception {
        if (state != State.DROPPED) {
            marks.snapshot();
        }
    }

    /**
     * Records the end of the facts.
     *
     * @return whether unmatched rows are due now and were not before
     */
    boolean factsEnded() {
        boolean news = state == State.FACTS_ARRIVE;
        state = news ? State.FACTS_ENDED : state;
        return news;
    }

    /** Whether {@link #turn} has rows left, once the results of all facts are emitted. */
    boolean isDue() {
        return state == State.FACTS_ENDED;
    }

    /** Reads some rows of the log, and emits those without a mark. */
    void turn() throws Exception {
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
