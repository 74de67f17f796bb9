// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.flink;

import io.github.gpujoin.core.layout.Chunk;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.core.io.InputStatus;
import org.jspecify.annotations.Nullable;

/**
 * Sends the chunks of one subtask in portions, each when its gate is open. It has no state: after a
 * restore it starts over.
 */
final class TupleReader<T> implements SourceReader<T, NoSplitSource.NoSplit> {

    private static final CompletableFuture<Void> NOW = CompletableFuture.completedFuture(null);

    /**
     * Chunks that are sent one after the other.
     *
     * @param sent is told when the last of them has been sent
     */
    record Portion(CompletableFuture<Void> gate, List<Chunk> chunks, Runnable sent) {}

    private final RecordCutter<T> cutter;
    private final Iterator<Portion> portions;

    /** The last portion is sent over and over. */
    private final boolean endless;

    /** Waits for its gate; null where none is left. */
    private @Nullable Portion next;

    private Portion current;
    private Iterator<Chunk> chunks = Collections.emptyIterator();
    private @Nullable Chunk chunk;
    private int row;

    private TupleReader(RecordCutter<T> cutter, List<Portion> portions, boolean endless) {
        this.cutter = cutter;
        this.portions = portions.iterator();
        this.next = this.portions.next();
        this.endless = endless && !portions.get(portions.size() - 1).chunks().isEmpty();
    }

    static <T> TupleReader<T> build(FlinkRun run, int subtask, RecordCutter<T> cutter) {
        return new TupleReader<>(cutter, run.build(subtask), false);
    }

    static <T> TupleReader<T> probe(FlinkRun run, int subtask, RecordCutter<T> cutter) {
        List<Chunk> primes = run.primes(subtask);
        List<Portion> portions =
                List.of(
                        new Portion(NOW, primes, () -> {}),
                        new Portion(run.tablesBuilt(), primes, () -> {}),
                        new Portion(run.timedGate(), run.timed(subtask), () -> {}));
        return new TupleReader<>(cutter, portions, run.isEndless());
    }

    @Override
    public InputStatus pollNext(ReaderOutput<T> output) {
        while (chunk == null || row == chunk.rowCount()) {
            if (chunks.hasNext()) {
                chunk = chunks.next();
                row = 0;
            } else if (next != null && !next.gate().isDone()) {
                return InputStatus.NOTHING_AVAILABLE;
            } else if (next != null) {
                begin(next);
                next = portions.hasNext() ? portions.next() : null;
            } else if (endless) {
                begin(current);
            } else {
                return InputStatus.END_OF_INPUT;
            }
        }
        output.collect(cutter.record(chunk, row));
        row += cutter.rowsAt(chunk, row);
        if (row == chunk.rowCount() && !chunks.hasNext()) {
            current.sent().run();
        }
        return InputStatus.MORE_AVAILABLE;
    }

    private void begin(Portion portion) {
        current = portion;
        chunks = portion.chunks().iterator();
    }

    @Override
    public CompletableFuture<Void> isAvailable() {
        boolean waiting = !chunks.hasNext() && (chunk == null || row == chunk.rowCount());
        return waiting && next != null ? next.gate() : NOW;
    }

    @Override
    public void start() {}

    @Override
    public List<NoSplitSource.NoSplit> snapshotState(long checkpointId) {
        return List.of();
    }

    @Override
    public void addSplits(List<NoSplitSource.NoSplit> splits) {
        throw new UnsupportedOperationException("Unexpected splits: splits=" + splits.size());
    }

    @Override
    public void notifyNoMoreSplits() {}

    @Override
    public void close() {}
}
