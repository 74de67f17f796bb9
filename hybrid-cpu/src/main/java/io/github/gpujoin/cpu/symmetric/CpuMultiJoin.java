// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.symmetric;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.symmetric.ChangeKind;
import io.github.gpujoin.core.symmetric.MultiJoinCondition;
import io.github.gpujoin.core.symmetric.MultiJoinSpec;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import org.jspecify.annotations.Nullable;

/**
 * Joins two or more inputs on the thread of the caller. For each submitted row it searches the
 * combinations of rows depth-first, a level for each input, in the order of the inputs:
 *
 * <pre>
 *   level 0   a1 ------- a2 ---- ...      rows of the chain of the key
 *              |
 *   level 1   the submitted row           at most twice, once as no row
 *              |
 *   level 2   c1 - c2 - none if c1 and c2 do not match and the step is a left join
 * </pre>
 *
 * <p>No match is counted in advance: a level finds out whether it has any. The search stops at any
 * point where the batch is full.
 */
final class CpuMultiJoin extends AbstractCpuJoin<KeyIndex> {

    private static final int NONE = ResultBuffer.NONE;

    private final IndexReader reader;
    private final MultiJoinSpec spec;
    private final MultiJoinCondition condition;
    private final int levels;

    /** Whether rows of equal integer keys may not match, so that levels look at their chunks. */
    private final boolean comparesRows;

    private int ownLevel;
    private boolean hasNullKey;

    // The search of the row that is being joined.
    private int level;
    private byte resultKind;
    private final int[] firstLinks;

    // Of each level: the next row, and the present one.
    private final int[] nextLinks;
    private final boolean[] hasMatch;
    private final int[] copiesLeft;
    private final int[] refs;
    private final @Nullable Chunk[] chunks;
    private final int[] rows;

    // The level of the submitted row.
    private OwnStep nextOwnStep = OwnStep.DONE;
    private boolean changesUnmatched;

    /** What the level of the submitted row returns next. */
    private enum OwnStep {
        RETRACT_UNMATCHED,
        ROW,
        INSERT_UNMATCHED,
        DONE
    }

    CpuMultiJoin(
            MultiJoinSpec spec,
            MultiJoinCondition condition,
            MemoryReservations hostMemory,
            @Nullable Path spillDirectory) {
        super(
                spec.inputs(),
                Collections.nCopies(spec.inputs().size(), false),
                allocator -> new KeyIndex(allocator, spec.inputs().size()),
                hostMemory,
                spillDirectory);
        this.reader = new IndexReader(index, tables, AHEAD_ROWS);
        this.spec = spec;
        this.condition = condition;
        this.levels = spec.inputs().size();
        this.comparesRows =
                condition != MultiJoinCondition.ALWAYS || spec.inputs().get(0).isHashed();
        this.firstLinks = new int[levels];
        this.nextLinks = new int[levels];
        this.hasMatch = new boolean[levels];
        this.copiesLeft = new int[levels];
        this.refs = new int[levels];
        this.chunks = new Chunk[levels];
        this.rows = new int[levels];
    }

    /** Only removes expired rows: matches are counted by the search. */
    @Override
    protected void countMatches(long timeMs) {
        removeExpired(timeMs);
    }

    @Override
    void open(int input, Chunk opened, int firstRow, long timeMs) {
        super.open(input, opened, firstRow, timeMs);
        ownLevel = input;
    }

    @Override
    void readIndexAhead(int count) {
        reader.readSlots(hashes, count);
        if (own.input.isChangelog()) {
            readIdentitiesAhead(count);
            reader.readRows(own, hashes, identityHashes, count);
        }
        reader.walkChains(own, hashes, count);
    }

    @Override
    boolean joinRows() {
        if (!isAmidRow) {
            results.startRow();
            startSearch();
            isAmidRow = true;
        }
        while (level >= 0) {
            if (level == levels) {
                if (!hasRoom(1)) {
                    return false;
                }
                results.add(resultKind, refs);
                level--;
            } else if (nextRow()) {
                level++;
                enterLevel();
            } else {
                level--;
            }
        }
        if (!hasNullKey) {
            changeTable(0);
        }
        endRow();
        return true;
    }

    private void startSearch() {
        kind = own.columns.kind(chunk, row);
        hasNullKey = own.columns.hasNullKey(chunk, row);
        if (hasNullKey) {
            Arrays.fill(firstLinks, 0);
        } else {
            makeRoom();
            int ahead = row - aheadFrom;
            long slot = index.find(keys[ahead], hashes[ahead]);
            for (int i = 0; i < levels; i++) {
                firstLinks[i] = Memory.getInt(slot + KeyIndex.linkOffset(i));
            }
        }
        level = mayHaveResults() ? 0 : -1;
        enterLevel();
    }

    /** Whether the key has rows of each input without which there is no result. */
    private boolean mayHaveResults() {
        for (int i = 0; i < levels; i++) {
            if (i != ownLevel && firstLinks[i] == 0 && !spec.keepsUnmatched(i)) {
                return false;
            }
        }
        return true;
    }

    // ------------------------------------------------------------------ levels

    /** Starts a level, behind the present rows of the levels before it. */
    private void enterLevel() {
        if (level == ownLevel) {
            enterOwnLevel();
        } else if (level >= 0 && level < levels) {
            nextLinks[level] = firstLinks[level];
            hasMatch[level] = false;
            copiesLeft[level] = 0;
        }
    }

    /** Moves the level to its next row, and returns whether there is one. */
    private boolean nextRow() {
        int at = level;
        if (at == ownLevel) {
            return nextOwnRow();
        }
        if (copiesLeft[at] > 0) {
            copiesLeft[at]--;
            return true;
        }
        SideTable table = tables[at];
        while (nextLinks[at] != 0) {
            int link = nextLinks[at];
            int id = RowLinks.id(link);
            nextLinks[at] = link < 0 ? table.links.next(id) : 0;
            if (isMatch(at, id)) {
                hasMatch[at] = true;
                copiesLeft[at] = table.copies(id) - 1;
                return true;
            }
        }
        if (hasMatch[at] || !spec.keepsUnmatched(at)) {
            return false;
        }
        hasMatch[at] = true;
        setNone(at);
        return true;
    }

    /** Sets the row of a level, and returns whether it matches those of the levels before it. */
    private boolean isMatch(int at, int id) {
        refs[at] = id;
        if (!comparesRows) {
            return true;
        }
        SideTable table = tables[at];
        chunks[at] = table.ids.chunk(id).chunk;
        rows[at] = table.ids.row(id);
        return own.columns.isSameKey(chunk, row, table.columns, chunks[at], rows[at])
                && (at == 0 || condition.matches(at, chunks, rows));
    }

    private void setNone(int at) {
        refs[at] = NONE;
        chunks[at] = null;
    }

    // ------------------------------------------------------------------ level of the submitted row

    private void enterOwnLevel() {
        setOwn();
        if (ownLevel > 0 && !condition.matches(ownLevel, chunks, rows)) {
            nextOwnStep = OwnStep.DONE;
            return;
        }
        boolean isAddition = kind.isAddition();
        changesUnmatched = spec.keepsUnmatched(ownLevel) && hasOwnMatches(isAddition ? 0 : 1);
        nextOwnStep = changesUnmatched && isAddition ? OwnStep.RETRACT_UNMATCHED : OwnStep.ROW;
    }

    private void setOwn() {
        refs[ownLevel] = row;
        chunks[ownLevel] = chunk;
        rows[ownLevel] = row;
    }

    /** Whether the table of the submitted row has exactly some number of matches with copies. */
    private boolean hasOwnMatches(int expected) {
        int count = 0;
        int link = firstLinks[ownLevel];
        while (link != 0 && count <= expected) {
            int id = RowLinks.id(link);
            count += isMatch(ownLevel, id) ? own.copies(id) : 0;
            link = link < 0 ? own.links.next(id) : 0;
        }
        return count == expected;
    }

    private boolean nextOwnRow() {
        switch (nextOwnStep) {
            case RETRACT_UNMATCHED -> {
                setNone(ownLevel);
                resultKind = ChangeKind.DELETE.code();
                nextOwnStep = OwnStep.ROW;
            }
            case ROW -> {
                setOwn();
                resultKind = kind.code();
                nextOwnStep =
                        changesUnmatched && !kind.isAddition()
                                ? OwnStep.INSERT_UNMATCHED
                                : OwnStep.DONE;
            }
            case INSERT_UNMATCHED -> {
                setNone(ownLevel);
                resultKind = ChangeKind.INSERT.code();
                nextOwnStep = OwnStep.DONE;
            }
            default -> {
                return false;
            }
        }
        return true;
    }
}
