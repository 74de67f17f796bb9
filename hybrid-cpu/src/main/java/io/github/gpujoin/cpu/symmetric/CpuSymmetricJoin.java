// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.symmetric;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.symmetric.ChangeKind;
import io.github.gpujoin.core.symmetric.MatchCondition;
import io.github.gpujoin.core.symmetric.SymmetricJoinSpec;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Joins two inputs on the thread of the caller, with chains in host memory. */
final class CpuSymmetricJoin extends AbstractTwoInputJoin<KeyIndex> {

    private final IndexReader reader;

    /** The next row of the other input with the key of the row that is being joined. */
    private int link;

    CpuSymmetricJoin(
            SymmetricJoinSpec spec,
            MatchCondition condition,
            MemoryReservations hostMemory,
            @Nullable Path spillDirectory) {
        super(spec, condition, allocator -> new KeyIndex(allocator, 2), hostMemory, spillDirectory);
        this.reader = new IndexReader(index, tables, AHEAD_ROWS);
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

    // ------------------------------------------------------------------ rows

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
    void startCandidates() {
        int ahead = row - aheadFrom;
        link = Memory.getInt(index.find(keys[ahead], hashes[ahead]) + other.linkOffset);
    }

    @Override
    int nextCandidate() {
        if (link == 0) {
            return -1;
        }
        int id = RowLinks.id(link);
        link = link < 0 ? other.links.next(id) : 0;
        return id;
    }

    @Override
    boolean appendRows() {
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
}
