// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.flink.record.RecordLayout;
import java.util.Objects;
import java.util.Optional;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.jspecify.annotations.Nullable;

/**
 * Checks hash collisions of a pair join: finds the candidates of each probe row whose full keys
 * match, and emits the results of the join's kind. A probe row has no match only if it is complete,
 * since an engine may probe the rows of a chunk several times, each time against some build rows.
 */
final class CollisionCheckingPairEmitter<A, B, OUT>
        implements ResultEmitter<OUT>, UnmatchedBuildEmitter<OUT> {

    /** Whether a match of a probe row was found so far. */
    private enum Match {
        NONE,
        FOUND
    }

    private final PairJoinSpec<A, B, OUT> join;
    private final RecordAssembler<A> build;
    private final RecordAssembler<B> probe;
    private final @Nullable BuildRowNumbers<A> numbers;

    /** Null where equal integers are equal keys. */
    private final HashedKeys.@Nullable Verifier<A, B> keys;

    private final FactTimestamps timestamps;
    private final StreamRecord<OUT> element = new StreamRecord<>(null);

    private final IncompleteProbeRows<Match> probeRows =
            new IncompleteProbeRows<>(() -> Match.NONE, this::settle);
    private Output<StreamRecord<OUT>> output;

    /** The probe row of the record. */
    private int openRow;

    /** Null after the function has received it, since the function may modify its arguments. */
    private @Nullable B openRecord;

    CollisionCheckingPairEmitter(
            JoinSpec spec,
            RecordLayout<A> build,
            RecordAssembler<B> probe,
            PairJoinSpec<A, B, OUT> join,
            RuntimeContext context)
            throws Exception {
        this.join = join;
        this.build = RecordAssembler.of(spec, 0, build, join.function());
        this.probe = probe;
        this.numbers =
                join.kind().keepsUnmatchedBuild() ? new BuildRowNumbers<>(spec, build) : null;
        this.keys = join.keys() == null ? null : join.keys().verifier();
        this.timestamps = new FactTimestamps(spec);
        UserFunctions.open(join.function(), context);
        UserFunctions.open(join.condition(), context);
    }

    @Override
    public void emit(ResultBatch batch, int fromRow, int toRow, Output<StreamRecord<OUT>> output)
            throws Exception {
        Objects.checkFromToIndex(fromRow, toRow, batch.rowCount());
        this.output = output;
        build.bind(batch);
        probe.bind(batch);
        timestamps.bind(batch.chunk());
        for (int begin = fromRow; begin < toRow; begin += AbstractRowEmitter.BLOCK_ROWS) {
            int end = Math.min(toRow, begin + AbstractRowEmitter.BLOCK_ROWS);
            build.load(begin, end);
            emitBlock(batch, begin, end);
        }
    }

    private void emitBlock(ResultBatch batch, int fromRow, int toRow) throws Exception {
        for (int row = fromRow; row < toRow; row++) {
            int probeRow = Memory.getInt(batch.probeRowAddress() + 4L * row);
            if (!probeRows.isAt(probeRow)) {
                probeRows.moveTo(probeRow, batch.completedRows());
                open(probeRow);
            }
            if (batch.isMatched(0, row)) {
                checkCandidate(batch, row);
            }
        }
    }

    private void open(int probeRow) throws Exception {
        openRow = probeRow;
        openRecord = null;
        if (keys != null) {
            keys.probe(openRecord());
        }
        timestamps.apply(probeRow, element);
    }

    private B openRecord() throws Exception {
        if (openRecord == null) {
            // a fact's record is read from its chunk, whichever row of the batch has it
            openRecord = probe.assemble(0, openRow);
        }
        return openRecord;
    }

    private void checkCandidate(ResultBatch batch, int row) throws Exception {
        if (probeRows.state() == Match.FOUND && !join.kind().emitsPairs()) {
            return;
        }
        if (numbers != null && numbers.hasNullKey(batch, row)) {
            return;
        }
        A record = build.assemble(row, openRow);
        if (!matches(record)) {
            return;
        }
        probeRows.update(Match.FOUND);
        if (numbers != null) {
            numbers.matched(batch, row);
        }
        if (join.kind().emitsPairs()) {
            collect(record);
        } else if (join.kind() == PairKind.SEMI) {
            collect(null);
        }
    }

    private boolean matches(A candidate) throws Exception {
        return (keys == null || keys.matches(candidate))
                && (join.condition() == null || meetsCondition(candidate));
    }

    private boolean meetsCondition(A candidate) throws Exception {
        Boolean met = join.condition().join(candidate, openRecord());
        if (met == null) {
            throw new NullPointerException(
                    "The condition %s of .matching(...) returned null. Return true or false."
                            .formatted(join.condition().getClass().getName()));
        }
        return met;
    }

    private void collect(A record) throws Exception {
        B own = openRecord();
        openRecord = null;
        output.collect(element.replace(result(record, own)));
    }

    /** Emits a row all of whose candidates came, if having no match makes a result. */
    private void settle(int probeRow, Match match) throws Exception {
        if (match == Match.FOUND || !join.kind().keepsUnmatchedProbe()) {
            return;
        }
        if (probeRow != openRow) {
            open(probeRow);
        }
        collect(null);
    }

    @Override
    public void completed(int completedRows, Output<StreamRecord<OUT>> output) throws Exception {
        this.output = output;
        probeRows.completed(completedRows);
    }

    @Override
    public Optional<UnmatchedBuildEmitter<OUT>> unmatchedBuild() {
        return numbers == null ? Optional.empty() : Optional.of(this);
    }

    @Override
    public int numberColumn() {
        return numbers.column();
    }

    @Override
    public void onMatch(MatchListener listener) {
        numbers.onMatch(listener);
    }

    @Override
    public void emitUnmatched(Chunk chunk, int row, Output<StreamRecord<OUT>> output)
            throws Exception {
        element.eraseTimestamp();
        output.collect(element.replace(result(numbers.record(chunk, row), null)));
    }

    private OUT result(@Nullable A record, @Nullable B own) throws Exception {
        return UserFunctions.requireResult(join.function().join(record, own), join.function());
    }

    @Override
    public void close() throws Exception {
        try {
            UserFunctions.close(join.condition());
        } finally {
            UserFunctions.close(join.function());
        }
    }
}
