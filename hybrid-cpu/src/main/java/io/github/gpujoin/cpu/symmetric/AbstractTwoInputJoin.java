// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.symmetric;

import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.symmetric.MatchCondition;
import io.github.gpujoin.core.symmetric.SymmetricJoinSpec;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Joins two inputs row by row. Subclasses find the rows of the other input with the key of a row.
 *
 * @param <I> what finds rows by key
 */
abstract class AbstractTwoInputJoin<I extends RowIndex> extends AbstractCpuJoin<I> {

    final BulkJoinKind joinKind;
    final MatchCondition condition;
    private final boolean returnsPairs;

    // The chunk that is being joined.
    SideTable other;
    private ChangeKinds kinds;

    /** Whether rows of both inputs are only appended, and those with equal keys always match. */
    boolean isAppending;

    // The row that is being joined, if its results did not fit.
    private boolean hasNullKey;
    private int matches;
    private int match;
    private int copiesLeft;
    private boolean changesMatched;

    AbstractTwoInputJoin(
            SymmetricJoinSpec spec,
            MatchCondition condition,
            Function<Allocator, I> newIndex,
            MemoryReservations hostMemory,
            @Nullable Path spillDirectory) {
        super(
                spec.inputs(),
                Arrays.stream(JoinSide.values())
                        .map(side -> countsMatches(spec.kind(), side))
                        .toList(),
                newIndex,
                hostMemory,
                spillDirectory);
        this.joinKind = spec.kind();
        this.condition = condition;
        this.returnsPairs = joinKind.returnsPairs();
        this.other = tables[1];
        this.kinds = new ChangeKinds(joinKind, JoinSide.LEFT);
    }

    private static boolean countsMatches(BulkJoinKind kind, JoinSide side) {
        return kind.returnsPairs() ? kind.keepsUnmatched(side) : side == JoinSide.LEFT;
    }

    private boolean isLeft() {
        return own == tables[0];
    }

    // ------------------------------------------------------------------ for subclasses

    /** Finds the rows of the other input with the key of the row, for {@link #nextCandidate}. */
    abstract void startCandidates();

    /** Returns the next row of the other input with the same integer as key, or -1. */
    abstract int nextCandidate();

    /**
     * Joins rows of two inputs that are only appended, where equal keys always match.
     *
     * @return false if results did not fit
     */
    abstract boolean appendRows();

    // ------------------------------------------------------------------ chunks

    @Override
    void open(int input, Chunk opened, int firstRow, long timeMs) {
        super.open(input, opened, firstRow, timeMs);
        this.other = tables[1 - input];
        this.kinds = new ChangeKinds(joinKind, JoinSide.values()[input]);
        this.isAppending =
                joinKind == BulkJoinKind.INNER
                        && own.isAppended()
                        && other.isAppended()
                        && !own.input.isHashed()
                        && condition == MatchCondition.ALWAYS;
    }

    @Override
    final boolean joinRows() {
        return isAppending ? appendRows() : joinRow();
    }

    /**
     * Joins a row.
     *
     * @return false if results did not fit
     */
    private boolean joinRow() {
        if (!isAmidRow) {
            results.startRow();
            kind = own.columns.kind(chunk, row);
            hasNullKey = own.columns.hasNullKey(chunk, row);
            matches = 0;
            copiesLeft = 0;
            if (!hasNullKey) {
                makeRoom();
                startCandidates();
            }
            isAmidRow = true;
        }
        if (!emitMatches() || !hasRoom(1)) {
            return false;
        }
        byte unmatched = matches == 0 ? kinds.ifUnmatched(kind) : kinds.ifMatched(kind);
        if (unmatched != ChangeKinds.NO_RESULT) {
            results.add(unmatched, row, ResultBuffer.NONE);
        }
        if (!hasNullKey) {
            changeTable(matches);
        }
        endRow();
        return true;
    }

    private boolean emitMatches() {
        boolean isAddition = kind.isAddition();
        while (true) {
            for (; copiesLeft > 0; copiesLeft--) {
                if (!hasRoom(2)) {
                    return false;
                }
                emitMatch(isAddition);
            }
            match = hasNullKey ? -1 : nextCandidate();
            if (match < 0) {
                return true;
            }
            if (isMatch(match)) {
                int copies = other.copies(match);
                matches += copies;
                changesMatched = other.hasMatches && countMatch(isAddition);
                copiesLeft = returnsPairs || changesMatched ? copies : 0;
            }
        }
    }

    /** Counts the row as a match of the other row, and returns whether it is its only one. */
    private boolean countMatch(boolean isAddition) {
        int before = other.links.matches(match);
        other.links.setMatches(match, isAddition ? before + 1 : before - 1);
        return before == (isAddition ? 0 : 1);
    }

    private void emitMatch(boolean isAddition) {
        if (changesMatched && isAddition) {
            results.add(kinds.ofOther(kind), ResultBuffer.NONE, match);
        }
        if (returnsPairs) {
            results.add(kinds.ofPair(kind), row, match);
        }
        if (changesMatched && !isAddition) {
            results.add(kinds.ofOther(kind), ResultBuffer.NONE, match);
        }
    }

    /** Whether the row matches one of the other input with the same integer as key. */
    final boolean isMatch(int id) {
        if (condition == MatchCondition.ALWAYS && !own.input.isHashed()) {
            return true;
        }
        Chunk otherChunk = other.ids.chunk(id).chunk;
        int otherRow = other.ids.row(id);
        return own.columns.isSameKey(chunk, row, other.columns, otherChunk, otherRow)
                && (isLeft()
                        ? condition.matches(chunk, row, otherChunk, otherRow)
                        : condition.matches(otherChunk, otherRow, chunk, row));
    }
}
