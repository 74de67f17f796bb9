package io.github.gpujoin.benchmarks.flink;

import io.github.gpujoin.core.layout.Chunk;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.core.io.InputStatus;

/** Sends the chunks of one subtask: some before the run's gate opens, the others after it. */
final class TupleReader<T> implements SourceReader<T, TupleSource.NoSplit> {

    private static final CompletableFuture<Void> NOW = CompletableFuture.completedFuture(null);

    private final RecordCutter<T> cutter;
    private final CompletableFuture<Void> gate;
    private final List<Chunk> gated;
    private final boolean endless;
    private Iterator<Chunk> chunks;
    private boolean gateReached;
    private Chunk chunk;
    private int row;

    private TupleReader(
            RecordCutter<T> cutter,
            CompletableFuture<Void> gate,
            List<Chunk> first,
            List<Chunk> gated,
            boolean endless) {
        this.cutter = cutter;
        this.gate = gate;
        this.chunks = first.iterator();
        this.gated = gated;
        this.endless = endless && !gated.isEmpty();
    }

    static <T> TupleReader<T> build(FlinkRun run, int subtask, RecordCutter<T> cutter) {
        return new TupleReader<>(cutter, NOW, run.build(subtask), List.of(), false);
    }

    static <T> TupleReader<T> probe(FlinkRun run, int subtask, RecordCutter<T> cutter) {
        return new TupleReader<>(
                cutter, run.gate(), run.primes(subtask), run.timed(subtask), run.isEndless());
    }

    @Override
    public InputStatus pollNext(ReaderOutput<T> output) {
        while (chunk == null || row == chunk.rowCount()) {
            if (chunks.hasNext()) {
                chunk = chunks.next();
                row = 0;
            } else if (gateReached && !endless) {
                return InputStatus.END_OF_INPUT;
            } else if (!gate.isDone()) {
                return InputStatus.NOTHING_AVAILABLE;
            } else {
                gateReached = true;
                chunks = gated.iterator();
            }
        }
        output.collect(cutter.record(chunk, row));
        row += cutter.rowsAt(chunk, row);
        return InputStatus.MORE_AVAILABLE;
    }

    @Override
    public CompletableFuture<Void> isAvailable() {
        boolean waiting = !chunks.hasNext() && (chunk == null || row == chunk.rowCount());
        return waiting && !gateReached ? gate : NOW;
    }

    @Override
    public void start() {}

    @Override
    public List<TupleSource.NoSplit> snapshotState(long checkpointId) {
        throw new UnsupportedOperationException(
                "benchmark jobs run without checkpoints: checkpointId=" + checkpointId);
    }

    @Override
    public void addSplits(List<TupleSource.NoSplit> splits) {
        throw new UnsupportedOperationException("there are no splits: splits=" + splits.size());
    }

    @Override
    public void notifyNoMoreSplits() {}

    @Override
    public void close() {}
}
