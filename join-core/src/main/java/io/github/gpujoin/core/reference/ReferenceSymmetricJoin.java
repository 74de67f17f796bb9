// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.reference;

import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.reference.ReferenceSymmetricTable.Entry;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.symmetric.AbstractSymmetricJoin;
import io.github.gpujoin.core.symmetric.ChangeKind;
import io.github.gpujoin.core.symmetric.MatchCondition;
import io.github.gpujoin.core.symmetric.SymmetricBatch;
import io.github.gpujoin.core.symmetric.SymmetricJoinSpec;
import io.github.gpujoin.core.symmetric.SymmetricJoinStats;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Joins row by row on the heap. The definition that other implementations are compared with. */
public final class ReferenceSymmetricJoin extends AbstractSymmetricJoin {

    private static final int BATCH_RESULTS = 1000;

    private record Result(
            ChangeKind kind,
            @Nullable Chunk left,
            int leftRow,
            @Nullable Chunk right,
            int rightRow) {}

    private record Batch(List<Result> results, int completedRows, boolean isLast)
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
        public @Nullable Chunk chunk(JoinSide side, int result) {
            Result found = results.get(result);
            return side == JoinSide.LEFT ? found.left : found.right;
        }

        @Override
        public int row(JoinSide side, int result) {
            Result found = results.get(result);
            return side == JoinSide.LEFT ? found.leftRow : found.rightRow;
        }
    }

    private final MatchCondition condition;
    private final ReferenceSymmetricTable left;
    private final ReferenceSymmetricTable right;

    // The chunk that is being joined.
    private JoinSide side = JoinSide.LEFT;
    private @Nullable Chunk chunk;
    private long timeMs;
    private int nextRow;

    /** Results of the row before {@link #nextRow} that no batch contained yet. */
    private List<Result> results = new ArrayList<>();

    public ReferenceSymmetricJoin(
            SymmetricJoinSpec spec, MatchCondition condition, MemoryReservations hostMemory) {
        super(spec);
        this.condition = condition;
        this.left = new ReferenceSymmetricTable(spec.left(), hostMemory);
        this.right = new ReferenceSymmetricTable(spec.right(), hostMemory);
    }

    private ReferenceSymmetricTable table(JoinSide side) {
        return side == JoinSide.LEFT ? left : right;
    }

    // ------------------------------------------------------------------ tables

    @Override
    protected void apply(JoinSide side, Chunk chunk, long timeMs) {
        for (int row = 0; row < chunk.rowCount(); row++) {
            if (table(side).key(chunk, row) != null) {
                table(side).apply(chunk, row, timeMs, 0);
            }
        }
    }

    @Override
    protected void countMatches(long timeMs) {
        removeExpired(timeMs);
        for (JoinSide side : JoinSide.values()) {
            for (List<Entry> entries : table(side).all()) {
                for (Entry entry : entries) {
                    entry.matches = rows(matches(side, entry.chunk, entry.row));
                }
            }
        }
    }

    /** Returns the entries of the other side that match a row. */
    private List<Entry> matches(JoinSide side, Chunk chunk, int row) {
        Object key = table(side).key(chunk, row);
        return key == null
                ? List.of()
                : table(side.other()).entries(key).stream()
                        .filter(
                                other ->
                                        side == JoinSide.LEFT
                                                ? condition.matches(
                                                        chunk, row, other.chunk, other.row)
                                                : condition.matches(
                                                        other.chunk, other.row, chunk, row))
                        .toList();
    }

    private static int rows(List<Entry> entries) {
        return entries.stream().mapToInt(Entry::copies).sum();
    }

    @Override
    protected void removeExpired(long timeMs) {
        left.removeExpired(timeMs);
        right.removeExpired(timeMs);
    }

    // ------------------------------------------------------------------ results

    @Override
    protected void begin(JoinSide side, Chunk chunk, int firstRow, long timeMs) {
        removeExpired(timeMs);
        this.side = side;
        this.chunk = chunk;
        this.timeMs = timeMs;
        for (nextRow = 0; nextRow < firstRow; nextRow++) {
            join(nextRow);
        }
        results = new ArrayList<>();
    }

    @Override
    protected SymmetricBatch next() {
        List<Result> batch = new ArrayList<>();
        while (batch.size() < BATCH_RESULTS) {
            if (results.isEmpty()) {
                if (nextRow == chunk.rowCount()) {
                    break;
                }
                join(nextRow++);
            }
            if (!batch.isEmpty() && batch.size() + results.size() > BATCH_RESULTS) {
                break;
            }
            List<Result> moved = results.subList(0, Math.min(BATCH_RESULTS, results.size()));
            batch.addAll(moved);
            moved.clear();
        }
        int completedRows = results.isEmpty() ? nextRow : nextRow - 1;
        return new Batch(batch, completedRows, completedRows == chunk.rowCount());
    }

    /** Applies a row, and collects its results. */
    private void join(int row) {
        ChangeKind kind = table(side).kind(chunk, row);
        List<Entry> matches = matches(side, chunk, row);
        if (spec().kind().returnsPairs()) {
            joinPairs(kind, row, matches);
        } else if (side == JoinSide.LEFT) {
            if (matches.isEmpty() == (spec().kind() == BulkJoinKind.ANTI)) {
                emit(kind, row, null);
            }
        } else {
            joinRightOfSemi(kind, matches);
        }
        if (table(side).key(chunk, row) != null) {
            table(side).apply(chunk, row, timeMs, rows(matches));
        }
    }

    private void joinPairs(ChangeKind kind, int row, List<Entry> matches) {
        boolean isOuter = spec().kind().keepsUnmatched(side);
        boolean isOtherOuter = spec().kind().keepsUnmatched(side.other());
        ChangeKind insert = isOuter || isOtherOuter ? ChangeKind.INSERT : kind;
        ChangeKind delete = isOuter ? ChangeKind.DELETE : kind;
        if (matches.isEmpty() && isOuter) {
            emit(kind.isAddition() ? ChangeKind.INSERT : ChangeKind.DELETE, row, null);
        }
        for (Entry match : matches) {
            int before = match.matches;
            match.matches += kind.isAddition() ? 1 : -1;
            for (int copy = 0; copy < match.copies(); copy++) {
                if (kind.isAddition()) {
                    if (isOtherOuter && before == 0) {
                        emit(ChangeKind.DELETE, -1, match);
                    }
                    emit(insert, row, match);
                } else {
                    emit(delete, row, match);
                    if (isOtherOuter && before == 1) {
                        emit(ChangeKind.INSERT, -1, match);
                    }
                }
            }
        }
    }

    private void joinRightOfSemi(ChangeKind kind, List<Entry> matches) {
        boolean isSemi = spec().kind() == BulkJoinKind.SEMI;
        ChangeKind opposite = kind.isAddition() ? ChangeKind.DELETE : ChangeKind.INSERT;
        for (Entry match : matches) {
            int before = match.matches;
            match.matches += kind.isAddition() ? 1 : -1;
            if (before == (kind.isAddition() ? 0 : 1)) {
                for (int copy = 0; copy < match.copies(); copy++) {
                    emit(isSemi ? kind : opposite, -1, match);
                }
            }
        }
    }

    /**
     * @param row of the submitted chunk, or -1 if the result has none
     */
    private void emit(ChangeKind kind, int row, @Nullable Entry other) {
        Chunk own = row < 0 ? null : chunk;
        Chunk others = other == null ? null : other.chunk;
        int otherRow = other == null ? -1 : other.row;
        results.add(
                side == JoinSide.LEFT
                        ? new Result(kind, own, row, others, otherRow)
                        : new Result(kind, others, otherRow, own, row));
    }

    // ------------------------------------------------------------------ others

    @Override
    protected void copyTo(JoinSide side, int partition, Consumer<AddedRows> chunks) {
        table(side).copyRows(partition, chunks);
    }

    @Override
    public SymmetricJoinStats stats() {
        return new SymmetricJoinStats(
                left.rowCount(),
                right.rowCount(),
                left.unknownRetractions() + right.unknownRetractions(),
                left.expiredRows() + right.expiredRows(),
                left.memoryBytes() + right.memoryBytes(),
                0);
    }

    @Override
    protected void release() {
        left.clear();
        right.clear();
        results.clear();
    }
}
