package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.flink.pack.RecordLayout;
import java.util.Objects;
import java.util.Optional;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * Tells for each probe row which of its candidates, build rows of an equal integer as key, match,
 * and emits what the kind of join makes of them. Only a row whose candidates have all been looked
 * at is known to have no match; candidates of a row come side by side, in one batch or several.
 */
final class VerifyingEmitter<A, B, OUT> implements ResultEmitter<OUT>, UnmatchedBuildEmitter<OUT> {

    private static final int NONE = -1;

    private final PairJoin<A, B, OUT> join;
    private final RecordAssembler<A> build;
    private final RecordAssembler<B> probe;
    private final BuildNumbers<A> numbers;

    /** Null where equal integers are equal keys. */
    private final VerifiedKeys.Verifier<A, B> keys;

    private final FactTimestamps timestamps;
    private final StreamRecord<OUT> element = new StreamRecord<>(null);

    /** The probe row whose candidates come, its record, and whether one of them matched. */
    private int openRow = NONE;

    private B openRecord;
    private boolean matched;

    VerifyingEmitter(
            JoinSpec spec,
            RecordLayout<A> build,
            RecordAssembler<B> probe,
            PairJoin<A, B, OUT> join,
            RuntimeContext context)
            throws Exception {
        this.join = join;
        this.build = RecordAssembler.whole(spec, 0, build);
        this.probe = probe;
        this.numbers = join.kind().keepsUnmatchedBuild() ? new BuildNumbers<>(spec, build) : null;
        this.keys = join.keys() == null ? null : join.keys().verifier();
        this.timestamps = new FactTimestamps(spec);
        UserFunctions.open(join.function(), context);
        UserFunctions.open(join.condition(), context);
    }

    @Override
    public void emit(ResultBatch batch, int fromRow, int toRow, Output<StreamRecord<OUT>> output)
            throws Exception {
        Objects.checkFromToIndex(fromRow, toRow, batch.rowCount());
        build.bind(batch);
        probe.bind(batch);
        timestamps.bind(batch.chunk());
        for (int row = fromRow; row < toRow; row++) {
            int probeRow = Memory.getInt(batch.probeRowAddress() + 4L * row);
            if (probeRow != openRow) {
                closeRow(output);
                openRow = probeRow;
                openRecord = probe.assemble(row, probeRow);
                if (keys != null) {
                    keys.probe(openRecord);
                }
                timestamps.apply(probeRow, element);
            }
            if (batch.isMatched(0, row)) {
                look(batch, row, output);
            }
        }
    }

    private void look(ResultBatch batch, int row, Output<StreamRecord<OUT>> output)
            throws Exception {
        if (matched && !join.kind().givesPairs()) {
            return;
        }
        if (numbers != null && numbers.hasNullKey(batch, row)) {
            return;
        }
        A record = build.assemble(row, openRow);
        if (!matches(record)) {
            return;
        }
        boolean first = !matched;
        matched = true;
        if (numbers != null) {
            numbers.matched(batch, row);
        }
        if (join.kind().givesPairs()) {
            collect(record, output);
        } else if (first && join.kind() == PairKind.SEMI) {
            collect(null, output);
        }
    }

    private boolean matches(A candidate) throws Exception {
        return (keys == null || keys.matches(candidate))
                && (join.condition() == null || join.condition().join(candidate, openRecord));
    }

    private void collect(A record, Output<StreamRecord<OUT>> output) throws Exception {
        output.collect(element.replace(join.function().join(record, openRecord)));
    }

    @Override
    public void completed(int completedRows, Output<StreamRecord<OUT>> output) throws Exception {
        if (openRow < completedRows) {
            closeRow(output);
        }
    }

    private void closeRow(Output<StreamRecord<OUT>> output) throws Exception {
        if (openRow != NONE && !matched && join.kind().keepsUnmatchedProbe()) {
            collect(null, output);
        }
        openRow = NONE;
        openRecord = null;
        matched = false;
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
        output.collect(element.replace(join.function().join(numbers.record(chunk, row), null)));
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
