// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.reference;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.symmetric.AbstractSymmetricJoin;
import io.github.gpujoin.core.symmetric.ChangeKind;
import io.github.gpujoin.core.symmetric.SymmetricBatch;
import io.github.gpujoin.core.symmetric.SymmetricInput;
import io.github.gpujoin.core.symmetric.SymmetricJoinStats;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The tables, batches and life cycle of the joins on the heap. */
abstract class AbstractReferenceJoin extends AbstractSymmetricJoin {

    private static final int BATCH_RESULTS = 1000;

    /** A row of a result, or none if the chunk is null. */
    record RowRef(@Nullable Chunk chunk, int row) {

        static final RowRef NONE = new RowRef(null, -1);
    }

    private record Result(ChangeKind kind, List<RowRef> rows) {}

    private record Batch(
            List<Result> results, int completedRows, boolean endsAmidRow, boolean isLast)
            implements SymmetricBatch {

        @Override
        public int resultCount() {
            return results.size();
        }

        @Override
        public ChangeKind kind(int result) {
            return results.get(result).kind;
        }

        @Override
        public @Nullable Chunk chunk(int input, int result) {
            return results.get(result).rows.get(input).chunk;
        }

        @Override
        public int row(int input, int result) {
            return results.get(result).rows.get(input).row;
        }
    }

    private final List<ReferenceSymmetricTable> tables;

    // The chunk that is being joined.
    private int input;
    private Chunk chunk;
    private long timeMs;
    private int nextRow;

    /** Results of the row before {@link #nextRow} that no batch contained yet. */
    private List<Result> results = new ArrayList<>();

    AbstractReferenceJoin(List<SymmetricInput> inputs, MemoryReservations hostMemory) {
        super(inputs);
        this.tables =
                inputs.stream().map(each -> new ReferenceSymmetricTable(each, hostMemory)).toList();
    }

    final ReferenceSymmetricTable table(int input) {
        return tables.get(input);
    }

    /**
     * Collects the results of a row.
     *
     * @return the number of matches that the row has, if that is counted
     */
    abstract int join(int input, Chunk chunk, int row);

    /**
     * @param rows the row of each input, in order
     */
    final void emit(ChangeKind kind, List<RowRef> rows) {
        results.add(new Result(kind, List.copyOf(rows)));
    }

    @Override
    protected void apply(int input, Chunk chunk, long timeMs) {
        table(input).removeExpired(timeMs, entry -> entry.chunk.partition() == chunk.partition());
        for (int row = 0; row < chunk.rowCount(); row++) {
            apply(input, chunk, row, timeMs, 0);
        }
    }

    private void apply(int input, Chunk chunk, int row, long timeMs, int matches) {
        if (table(input).key(chunk, row) != null) {
            table(input).apply(chunk, row, timeMs, matches);
        }
    }

    @Override
    protected final void removeExpired(long timeMs) {
        tables.forEach(table -> table.removeExpired(timeMs, entry -> true));
    }

    // ------------------------------------------------------------------ results

    @Override
    protected final void begin(int input, Chunk chunk, int firstRow, long timeMs) {
        removeExpired(timeMs);
        this.input = input;
        this.chunk = chunk;
        this.timeMs = timeMs;
        for (nextRow = 0; nextRow < firstRow; ) {
            joinNext();
        }
        results = new ArrayList<>();
    }

    private void joinNext() {
        int row = nextRow++;
        int matches = join(input, chunk, row);
        apply(input, chunk, row, timeMs, matches);
    }

    @Override
    protected final SymmetricBatch next() {
        List<Result> batch = new ArrayList<>();
        boolean continuesRow = !results.isEmpty();
        while (batch.size() < BATCH_RESULTS) {
            if (results.isEmpty()) {
                if (continuesRow || nextRow == chunk.rowCount()) {
                    break;
                }
                joinNext();
            }
            if (!batch.isEmpty() && batch.size() + results.size() > BATCH_RESULTS) {
                break;
            }
            List<Result> moved = results.subList(0, Math.min(BATCH_RESULTS, results.size()));
            batch.addAll(moved);
            moved.clear();
        }
        int completedRows = results.isEmpty() ? nextRow : nextRow - 1;
        boolean endsAmidRow = !results.isEmpty() && batch.size() == BATCH_RESULTS;
        return new Batch(batch, completedRows, endsAmidRow, completedRows == chunk.rowCount());
    }

    // ------------------------------------------------------------------ others

    @Override
    protected final void copyTo(int input, int partition, Consumer<AddedRows> chunks) {
        table(input).copyRows(partition, chunks);
    }

    @Override
    public final SymmetricJoinStats stats() {
        return new SymmetricJoinStats(
                tables.stream().map(ReferenceSymmetricTable::rowCount).toList(),
                tables.stream().mapToLong(ReferenceSymmetricTable::unknownRetractions).sum(),
                tables.stream().mapToLong(ReferenceSymmetricTable::expiredRows).sum(),
                tables.stream().mapToLong(ReferenceSymmetricTable::memoryBytes).sum(),
                0);
    }

    @Override
    protected final void release() {
        tables.forEach(ReferenceSymmetricTable::clear);
        results.clear();
    }
}
