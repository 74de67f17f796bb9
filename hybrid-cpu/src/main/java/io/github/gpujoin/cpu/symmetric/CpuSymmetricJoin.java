// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.symmetric;

import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.symmetric.ChangeKind;
import io.github.gpujoin.core.symmetric.MatchCondition;
import io.github.gpujoin.core.symmetric.SymmetricJoinSpec;
import java.nio.file.Path;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Joins two inputs on the thread of the caller. */
final class CpuSymmetricJoin extends AbstractCpuJoin {

    private final BulkJoinKind joinKind;
    private final MatchCondition condition;
    private final boolean returnsPairs;

    // The chunk that is being joined.
    private SideTable other;
    private ChangeKinds kinds;
    private boolean isAppending;

    // The row that is being joined, if its results did not fit.
    private boolean hasNullKey;
    private int link;
    private int matches;
    private int match;
    private int copiesLeft;
    private boolean changesMatched;

    CpuSymmetricJoin(
            SymmetricJoinSpec spec,
            MatchCondition condition,
            MemoryReservations hostMemory,
            @Nullable Path spillDirectory) {
        super(
                spec.inputs(),
                Arrays.stream(JoinSide.values())
                        .map(side -> countsMatches(spec.kind(), side))
                        .toList(),
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

    // ------------------------------------------------------------------ load

    @Override
    protected void countMatches(long timeMs) {
        removeExpired(timeMs);
        for (int input = 0; input < 2; input++) {
            if (tables[input].hasMatches) {
                own = tables[input];
                other = tables[1 - input];
                index.forEach(this::countMatchesOfKey);
            }
        }
    }

    private void countMatchesOfKey(long slot) {
        int ownLink = Memory.getInt(slot + own.linkOffset);
        while (ownLink != 0) {
            int id = RowLinks.id(ownLink);
            chunk = own.ids.chunk(id).chunk;
            row = own.ids.row(id);
            int count = 0;
            int otherLink = Memory.getInt(slot + other.linkOffset);
            while (otherLink != 0) {
                int otherId = RowLinks.id(otherLink);
                if (isMatch(otherId)) {
                    count += other.copies(otherId);
                }
                otherLink = otherLink < 0 ? other.links.next(otherId) : 0;
            }
            own.links.setMatches(id, count);
            ownLink = ownLink < 0 ? own.links.next(id) : 0;
        }
    }

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
    boolean joinRows() {
        return isAppending ? appendRows() : joinRow();
    }

    // ------------------------------------------------------------------ inner join of appended
    // rows

    /**
     * Joins the rows that were read ahead.
     *
     * @return false if results did not fit
     */
    private boolean appendRows() {
        int appended = 0;
        boolean hasNullKeys = own.input.nullKeyColumn() >= 0;
        byte insert = ChangeKind.INSERT.code();
        int end = Math.min(aheadEnd, batchEnd);
        while (row < end) {
            if (!isAmidRow) {
                results.startRow();
                if (hasNullKeys && own.columns.hasNullKey(chunk, row)) {
                    row++;
                    continue;
                }
                long slot = index.findOrAdd(keys[row - aheadFrom], hashes[row - aheadFrom]);
                link = Memory.getInt(slot + other.linkOffset);
                own.append(slot, kept.id(row));
                appended++;
            }
            while (link != 0) {
                if (!hasRoom(1)) {
                    isAmidRow = true;
                    own.appended(kept, appended);
                    return false;
                }
                int id = RowLinks.id(link);
                results.add(insert, row, id);
                link = link < 0 ? other.links.next(id) : 0;
            }
            endRow();
        }
        own.appended(kept, appended);
        return true;
    }

    // ------------------------------------------------------------------ all other joins

    /**
     * Joins a row.
     *
     * @return false if results did not fit
     */
    private boolean joinRow() {
        if (!isAmidRow) {
            results.startRow();
            int ahead = row - aheadFrom;
            kind = own.columns.kind(chunk, row);
            hasNullKey = own.columns.hasNullKey(chunk, row);
            matches = 0;
            copiesLeft = 0;
            link = 0;
            if (!hasNullKey) {
                makeRoom();
                long slot = index.find(keys[ahead], hashes[ahead]);
                link = Memory.getInt(slot + other.linkOffset);
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
            if (link == 0) {
                return true;
            }
            match = RowLinks.id(link);
            link = link < 0 ? other.links.next(match) : 0;
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
    private boolean isMatch(int id) {
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
