// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.reference;

import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.reference.ReferenceSymmetricTable.Entry;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.symmetric.ChangeKind;
import io.github.gpujoin.core.symmetric.MatchCondition;
import io.github.gpujoin.core.symmetric.SymmetricJoinSpec;
import java.util.List;

/** Joins row by row on the heap. The definition that other implementations are compared with. */
public final class ReferenceSymmetricJoin extends AbstractReferenceJoin {

    private final BulkJoinKind kind;
    private final MatchCondition condition;

    public ReferenceSymmetricJoin(
            SymmetricJoinSpec spec, MatchCondition condition, MemoryReservations hostMemory) {
        super(spec.inputs(), hostMemory);
        this.kind = spec.kind();
        this.condition = condition;
    }

    @Override
    protected void countMatches(long timeMs) {
        removeExpired(timeMs);
        for (JoinSide side : JoinSide.values()) {
            for (List<Entry> entries : table(side.ordinal()).all()) {
                for (Entry entry : entries) {
                    entry.matches = rows(matches(side, entry.chunk, entry.row));
                }
            }
        }
    }

    /** Returns the entries of the other side that match a row. */
    private List<Entry> matches(JoinSide side, Chunk chunk, int row) {
        Object key = table(side.ordinal()).key(chunk, row);
        return key == null
                ? List.of()
                : table(side.other().ordinal()).entries(key).stream()
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

    // ------------------------------------------------------------------ results

    @Override
    int join(int input, Chunk chunk, int row) {
        JoinSide side = JoinSide.values()[input];
        ChangeKind change = table(input).kind(chunk, row);
        RowRef own = new RowRef(chunk, row);
        List<Entry> matches = matches(side, chunk, row);
        if (kind.returnsPairs()) {
            joinPairs(side, change, own, matches);
        } else if (side == JoinSide.LEFT) {
            if (matches.isEmpty() == (kind == BulkJoinKind.ANTI)) {
                emit(change, List.of(own, RowRef.NONE));
            }
        } else {
            joinRightOfSemi(change, matches);
        }
        return rows(matches);
    }

    private void joinPairs(JoinSide side, ChangeKind change, RowRef own, List<Entry> matches) {
        boolean isOuter = kind.keepsUnmatched(side);
        boolean isOtherOuter = kind.keepsUnmatched(side.other());
        ChangeKind insert = isOuter || isOtherOuter ? ChangeKind.INSERT : change;
        ChangeKind delete = isOuter ? ChangeKind.DELETE : change;
        if (matches.isEmpty() && isOuter) {
            ChangeKind unmatched = change.isAddition() ? ChangeKind.INSERT : ChangeKind.DELETE;
            emit(side, unmatched, own, RowRef.NONE);
        }
        for (Entry match : matches) {
            RowRef other = new RowRef(match.chunk, match.row);
            int before = match.matches;
            match.matches += change.isAddition() ? 1 : -1;
            for (int copy = 0; copy < match.copies(); copy++) {
                if (change.isAddition()) {
                    if (isOtherOuter && before == 0) {
                        emit(side, ChangeKind.DELETE, RowRef.NONE, other);
                    }
                    emit(side, insert, own, other);
                } else {
                    emit(side, delete, own, other);
                    if (isOtherOuter && before == 1) {
                        emit(side, ChangeKind.INSERT, RowRef.NONE, other);
                    }
                }
            }
        }
    }

    private void joinRightOfSemi(ChangeKind change, List<Entry> matches) {
        ChangeKind opposite = change.isAddition() ? ChangeKind.DELETE : ChangeKind.INSERT;
        for (Entry match : matches) {
            int before = match.matches;
            match.matches += change.isAddition() ? 1 : -1;
            if (before == (change.isAddition() ? 0 : 1)) {
                for (int copy = 0; copy < match.copies(); copy++) {
                    emit(
                            kind == BulkJoinKind.SEMI ? change : opposite,
                            List.of(new RowRef(match.chunk, match.row), RowRef.NONE));
                }
            }
        }
    }

    private void emit(JoinSide side, ChangeKind change, RowRef own, RowRef other) {
        emit(change, side == JoinSide.LEFT ? List.of(own, other) : List.of(other, own));
    }
}
