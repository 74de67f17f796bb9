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
 * Gives the build rows that no fact matched, after the last fact, each once, where the join keeps
 * them. A row is marked when it is in a result, with a fact or without, and marks are in state. So
 * it does not matter where between two rows a snapshot is taken, nor that the facts end again after
 * a restore.
 */
final class UnmatchedBuildRows<OUT> {

    private enum State {
        /** The join drops such rows; nothing is marked. */
        DROPPED,
        FACTS_COME,
        FACTS_ENDED,
        GIVEN
    }

    private final UnmatchedBuildEmitter<OUT> emitter;
    private final BuildRowMarks marks;
    private final BuildLog.Reader log;
    private final Output<StreamRecord<OUT>> output;
    private State state;

    /** Of the log, being read; null before the first and after the last. */
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
        this.state = emitter == null ? State.DROPPED : State.FACTS_COME;
    }

    /**
     * @param results says whether such rows are kept, and emits them
     * @param setCurrentKey of the operator that owns the keyed state
     * @param log of the build side, to be read once
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

    /** The chunk as it is to stand in the log, behind those before it. */
    Chunk numbered(Chunk chunk) {
        return state == State.DROPPED ? chunk : marks.number(chunk);
    }

    /** Takes note of rows of a restored log, which have numbers. */
    void restored(int partition, long rows) {
        if (state != State.DROPPED) {
            marks.count(partition, rows);
        }
    }

    /** Takes the marks of a snapshot up. */
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
     * Takes note that no fact comes any more.
     *
     * @return whether rows are due now that were not before
     */
    boolean factsEnded() {
        boolean news = state == State.FACTS_COME;
        state = news ? State.FACTS_ENDED : state;
        return news;
    }

    /** Whether {@link #turn} has something to do, once the results of all facts are emitted. */
    boolean isDue() {
        return state == State.FACTS_ENDED;
    }

    /** Looks at some rows of the log, and emits those without a mark. */
    void turn() throws Exception {
        if (chunk == null || nextRow == chunk.rowCount()) {
            chunk = log.next();
            nextRow = 0;
        }
        if (chunk == null) {
            state = State.GIVEN;
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
