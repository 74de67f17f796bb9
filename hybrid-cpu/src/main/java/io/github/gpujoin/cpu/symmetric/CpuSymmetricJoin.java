// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.symmetric;

import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.MemoryAccount;
import io.github.gpujoin.core.region.MemoryRefusedException;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.symmetric.AbstractSymmetricJoin;
import io.github.gpujoin.core.symmetric.ChangeKind;
import io.github.gpujoin.core.symmetric.MatchCondition;
import io.github.gpujoin.core.symmetric.SymmetricBatch;
import io.github.gpujoin.core.symmetric.SymmetricJoinSpec;
import io.github.gpujoin.core.symmetric.SymmetricJoinStats;
import java.io.IOException;
import java.nio.file.Path;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Joins on the thread of the caller. Rows are joined one after another, but the index is read ahead
 * for {@value #AHEAD_ROWS} rows, so that their cache misses overlap.
 */
final class CpuSymmetricJoin extends AbstractSymmetricJoin {

    private static final int AHEAD_ROWS = 256;

    /** A spill moves a part of one in this many of the chunks on the heap, to be rare. */
    private static final int SPILLED_PARTS = 8;

    /** Rows that compaction may copy before a chunk is joined. */
    private static final int COPIED_ROWS = 16 << 10;

    private final MatchCondition condition;
    private final boolean returnsPairs;
    private final MemoryAccount account = new MemoryAccount("host");

    /** Null if memory that is refused is a failure. */
    private final @Nullable ChunkFiles files;

    private final KeyIndex index;
    private final SideTable left;
    private final SideTable right;
    private final ResultBuffer results = new ResultBuffer();
    private final long[] keys = new long[AHEAD_ROWS];
    private final int[] hashes = new int[AHEAD_ROWS];
    private final int[] identityHashes = new int[AHEAD_ROWS];
    private final int[] chainRows = new int[AHEAD_ROWS];

    /** Keeps the JIT compiler from dropping the reads ahead. */
    private long touched;

    // The chunk that is being joined, from `row` on.
    private SideTable own;
    private SideTable other;
    private Chunk chunk;
    private @Nullable KeptChunk kept;
    private ChangeKinds kinds;
    private boolean isAppending;
    private int firstRow;
    private int row;
    private int aheadFrom;
    private int aheadEnd;

    // The row that is being joined, if its results did not fit.
    private boolean isAmidRow;
    private ChangeKind kind = ChangeKind.INSERT;
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
        super(spec);
        this.condition = condition;
        this.returnsPairs = spec.kind().returnsPairs();
        this.files = spillDirectory == null ? null : new ChunkFiles(spillDirectory);
        MemoryReservations memory = new SpillingReservations(hostMemory, this::spill);
        Allocator allocator = account.within(memory);
        this.index = new KeyIndex(allocator);
        SideTable opened = null;
        try {
            opened = table(JoinSide.LEFT, allocator, memory);
            this.right = table(JoinSide.RIGHT, allocator, memory);
        } catch (Throwable e) {
            index.close();
            if (opened != null) {
                opened.close();
            }
            throw e;
        }
        this.left = opened;
        this.own = left;
        this.other = right;
        this.kinds = new ChangeKinds(spec.kind(), JoinSide.LEFT);
    }

    private SideTable table(JoinSide side, Allocator allocator, MemoryReservations memory) {
        boolean hasMatches =
                returnsPairs ? spec().kind().keepsUnmatched(side) : side == JoinSide.LEFT;
        return new SideTable(spec().input(side), side, hasMatches, index, allocator, memory);
    }

    /**
     * Moves chunks of the table that has more of them on the heap to files. The bytes of a chunk
     * stay where they are for those who have read its reference.
     */
    private boolean spill(long neededBytes, MemoryRefusedException refusal) {
        if (files == null || left == null || right == null) {
            return false;
        }
        ChunkIds larger = left.ids.heapBytes() >= right.ids.heapBytes() ? left.ids : right.ids;
        try {
            return larger.spill(files, Math.max(neededBytes, larger.heapBytes() / SPILLED_PARTS))
                    > 0;
        } catch (IOException e) {
            refusal.addSuppressed(e);
            return false;
        }
    }

    private SideTable table(JoinSide side) {
        return side == JoinSide.LEFT ? left : right;
    }

    // ------------------------------------------------------------------ load

    @Override
    protected void apply(JoinSide side, Chunk loaded, long timeMs) {
        open(side, loaded, 0, timeMs);
        for (; row < chunk.rowCount(); row++) {
            if (row == aheadEnd) {
                readAhead();
            }
            kind = own.columns.kind(chunk, row);
            if (!own.columns.hasNullKey(chunk, row)) {
                changeTable(0);
            }
        }
        own.tidy(COPIED_ROWS);
    }

    @Override
    protected void countMatches(long timeMs) {
        removeExpired(timeMs);
        for (JoinSide side : JoinSide.values()) {
            if (table(side).hasMatches) {
                own = table(side);
                other = table(side.other());
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
    protected void begin(JoinSide side, Chunk submitted, int firstRow, long timeMs) {
        removeExpired(timeMs);
        open(side, submitted, firstRow, timeMs);
        results.open(side, chunk, other.ids);
        isAmidRow = false;
    }

    private void open(JoinSide side, Chunk opened, int firstRow, long timeMs) {
        this.own = table(side);
        this.other = table(side.other());
        this.chunk = opened;
        this.kept = own.keep(opened, timeMs);
        this.kinds = new ChangeKinds(spec().kind(), side);
        this.isAppending =
                spec().kind() == BulkJoinKind.INNER
                        && own.isAppended()
                        && other.isAppended()
                        && !own.input.isHashed()
                        && condition == MatchCondition.ALWAYS;
        this.firstRow = firstRow;
        this.row = 0;
        this.aheadFrom = 0;
        this.aheadEnd = 0;
    }

    private void tidy() {
        left.tidy(COPIED_ROWS);
        right.tidy(COPIED_ROWS);
    }

    /**
     * Hashes the next rows, and reads their slots, then the rows to which these refer. The loads of
     * each loop are independent, so that the processor overlaps their cache misses.
     */
    private void readAhead() {
        aheadFrom = row;
        int count = Math.min(AHEAD_ROWS, chunk.rowCount() - row);
        aheadEnd = row + count;
        own.columns.readKeys(chunk, row, count, keys);
        long sum = 0;
        for (int i = 0; i < count; i++) {
            hashes[i] = KeyIndex.hashOf(keys[i]);
            sum += KeyIndex.key(index.home(hashes[i]));
        }
        if (own.input.isChangelog()) {
            for (int i = 0; i < count; i++) {
                identityHashes[i] = own.identityHash(hashes[i], chunk, aheadFrom + i);
                sum += own.touchSlot(identityHashes[i]);
            }
            for (int i = 0; i < count; i++) {
                sum += own.touchRow(index.home(hashes[i]), identityHashes[i]);
            }
        }
        touched += sum;
        int chains = 0;
        for (int i = 0; i < count; i++) {
            int first = Memory.getInt(index.home(hashes[i]) + other.linkOffset);
            if (first < 0 || first != 0 && other.hasMatches) {
                chainRows[chains++] = RowLinks.id(first);
            }
        }
        other.walkAhead(chainRows, chains);
    }

    @Override
    protected SymmetricBatch next() {
        results.drop();
        boolean hasRoom = true;
        while (hasRoom && row < chunk.rowCount()) {
            if (row == aheadEnd) {
                readAhead();
            }
            hasRoom = isAppending ? appendRows() : joinRow();
        }
        return results.seal(row, isAmidRow);
    }

    /** Whether results fit. Those of rows before the first that returns results are dropped. */
    private boolean hasRoom(int count) {
        if (!results.hasRoom(count) && row < firstRow) {
            results.dropRow();
        }
        return results.hasRoom(count);
    }

    private void endRow() {
        if (row < firstRow) {
            results.dropRow();
        }
        isAmidRow = false;
        row++;
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
        while (row < aheadEnd) {
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
            link =
                    hasNullKey
                            ? 0
                            : Memory.getInt(
                                    index.find(keys[ahead], hashes[ahead]) + other.linkOffset);
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

    private void changeTable(int matches) {
        int ahead = row - aheadFrom;
        if (kind.isAddition()) {
            own.add(kept, row, keys[ahead], hashes[ahead], identityHashes[ahead], matches);
        } else {
            own.retract(chunk, row, keys[ahead], hashes[ahead], identityHashes[ahead]);
        }
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
                && (own == left
                        ? condition.matches(chunk, row, otherChunk, otherRow)
                        : condition.matches(otherChunk, otherRow, chunk, row));
    }

    // ------------------------------------------------------------------ others

    @Override
    protected void removeExpired(long timeMs) {
        left.removeExpired(timeMs);
        right.removeExpired(timeMs);
        tidy();
    }

    @Override
    protected void copyTo(JoinSide side, int partition, Consumer<AddedRows> chunks) {
        table(side).copyRows(partition, chunks);
    }

    /** Returns the bytes of chunks on the heap. */
    long chunkBytes() {
        return left.ids.heapBytes() + right.ids.heapBytes();
    }

    @Override
    public SymmetricJoinStats stats() {
        return new SymmetricJoinStats(
                left.rowCount(),
                right.rowCount(),
                left.unknownRetractions() + right.unknownRetractions(),
                left.expiredRows() + right.expiredRows(),
                account.usedBytes() + chunkBytes(),
                left.ids.spilledBytes() + right.ids.spilledBytes());
    }

    @Override
    protected void release() {
        index.close();
        left.close();
        right.close();
        if (files != null) {
            files.close();
        }
    }
}
