// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.symmetric;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.symmetric.RowIdentity;
import io.github.gpujoin.core.symmetric.SymmetricInput;
import io.github.gpujoin.core.symmetric.SymmetricJoin.AddedRows;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The rows of one input: the chunks that contain them, and the chains of rows with equal keys, from
 * the last added to the first. The {@link KeyIndex} of all inputs refers to the chains.
 *
 * <p>Rows leave their chain at once. Their chunk stays until {@link #tidy}, so that results may
 * refer to it.
 */
final class SideTable implements AutoCloseable {

    /** Rows of longer chains would leave the cache before they are joined. */
    private static final int MAX_STEPS_AHEAD = 16;

    final SymmetricInput input;

    /** Number of the input. */
    final int number;

    final RowColumns columns;
    final RowLinks links;
    final ChunkIds ids;

    /** Offset of the link of this input in a slot of the index. */
    final int linkOffset;

    /** Whether rows count their matches. */
    final boolean hasMatches;

    private final KeyChains chains;
    private final boolean expires;

    /** Whether rows leave the table one by one. */
    private final boolean isRemovable;

    private final boolean isMultiset;

    /** Null unless columns identify rows, or the chains that would find them are on a device. */
    private final @Nullable IdentityIndex identityIndex;

    private final Map<Integer, ChunkLog> logs = new LinkedHashMap<>();

    /** Chunks that may have no rows in the table. */
    private List<KeptChunk> candidates = new ArrayList<>();

    private final ChunkCompaction compaction;
    private long rowCount;
    private long unknownRetractions;
    private long expiredRows;

    /**
     * @param number of the input
     * @param hasMatches whether rows count their matches
     */
    SideTable(
            SymmetricInput input,
            int number,
            boolean hasMatches,
            RowIndex index,
            Allocator allocator,
            MemoryReservations memory) {
        this.input = input;
        this.number = number;
        this.columns = new RowColumns(input);
        this.linkOffset = KeyIndex.linkOffset(number);
        this.hasMatches = hasMatches;
        this.expires = input.timeToLiveMs() != SymmetricInput.FOREVER;
        this.isRemovable = input.isChangelog() || expires;
        this.isMultiset = input.identity() == RowIdentity.MULTISET;
        this.ids = new ChunkIds(input.name(), memory);
        boolean isOnHost = index.isOnHost();
        this.links =
                new RowLinks(allocator, isOnHost, isOnHost && isRemovable, hasMatches, isMultiset);
        this.chains = index.chains(number, links, isRemovable);
        boolean isInChain = input.identity() == RowIdentity.JOIN_KEY && isOnHost;
        this.identityIndex =
                input.isChangelog() && !isInChain ? new IdentityIndex(allocator) : null;
        this.compaction = new ChunkCompaction(this);
    }

    long rowCount() {
        return rowCount;
    }

    long unknownRetractions() {
        return unknownRetractions;
    }

    long expiredRows() {
        return expiredRows;
    }

    boolean expires() {
        return expires;
    }

    /** Whether rows are only appended, so that {@link #append} is legal. */
    boolean isAppended() {
        return !isRemovable && !hasMatches;
    }

    /** Returns the number of equal rows for which a row stands. */
    int copies(int id) {
        return isMultiset ? links.copies(id) : 1;
    }

    boolean isLive(KeptChunk kept, int row) {
        return isRemovable ? ids.isLive(kept.id(row)) : !columns.hasNullKey(kept.chunk, row);
    }

    /** Returns the hash of a row by which a changelog finds it, or 0 if its key suffices. */
    int identityHash(int keyHash, Chunk chunk, int row) {
        return identityIndex == null ? 0 : columns.identityHash(keyHash, chunk, row);
    }

    /** Reads the slot in which the search for a row starts. */
    long touchSlot(int identityHash) {
        return identityIndex == null ? 0 : identityIndex.id(identityIndex.home(identityHash));
    }

    /**
     * Reads what a change of a row reads behind its slots.
     *
     * @param slot where the search for its key starts
     */
    long touchRow(long slot, int identityHash) {
        if (identityIndex != null) {
            return touchRow(identityHash);
        }
        int id = RowLinks.id(Memory.getInt(slot + linkOffset));
        return id < 0 ? 0 : links.next(id);
    }

    /** Does the same for rows that columns identify. */
    long touchRow(int identityHash) {
        int id = identityIndex.id(identityIndex.home(identityHash));
        return id < 0 ? 0 : links.touch(id) + columns.key(ids.chunk(id).chunk, ids.row(id));
    }

    /**
     * Walks some chains in step, so that their cache misses overlap: a step of one chain depends on
     * the previous one, but not on those of other chains.
     *
     * @param rows first rows of the chains; overwritten
     */
    void walkAhead(int[] rows, int count) {
        int chains = count;
        for (int step = 0; step < MAX_STEPS_AHEAD && chains > 0; step++) {
            int longer = 0;
            for (int i = 0; i < chains; i++) {
                int link = links.next(rows[i]);
                if (link < 0) {
                    rows[longer++] = RowLinks.id(link);
                }
            }
            chains = longer;
        }
    }

    // ------------------------------------------------------------------ chunks

    /** Allocates ids for the rows of a chunk, none of which is in the table yet. */
    KeptChunk keep(Chunk chunk, long timeMs) {
        ChunkLog log = logs.computeIfAbsent(chunk.partition(), ChunkLog::new);
        KeptChunk kept = ids.keep(chunk, log, timeMs);
        log.add(kept);
        candidates.add(kept);
        reserveLinks();
        return kept;
    }

    /** Visits the chunks that were not freed. */
    void forEachChunk(Consumer<KeptChunk> visitor) {
        for (ChunkLog log : logs.values()) {
            for (KeptChunk kept : log.chunks) {
                if (!kept.isFreed()) {
                    visitor.accept(kept);
                }
            }
        }
    }

    /** Makes room for what is stored of all rows that have ids. */
    void reserveLinks() {
        links.reserve(ids.lastId());
        chains.reserve(ids.lastId());
    }

    /** Copies rows as {@link io.github.gpujoin.core.symmetric.SymmetricJoin#copyRows}. */
    void copyRows(int partition, Consumer<AddedRows> chunks) {
        ChunkLog log = logs.get(partition);
        if (log != null) {
            compaction.copyRows(log, chunks);
        }
    }

    /**
     * Frees chunks without rows in the table, and copies rows out of chunks with few.
     *
     * @param maxRows rows to copy, about
     */
    void tidy(int maxRows) {
        List<KeptChunk> checked = candidates;
        candidates = new ArrayList<>();
        for (KeptChunk kept : checked) {
            if (kept.liveRows == 0 && !kept.isFreed()) {
                free(kept);
            }
        }
        if (isRemovable) {
            for (ChunkLog log : logs.values()) {
                compaction.advance(log, maxRows);
            }
        }
    }

    void free(KeptChunk kept) {
        int rows = kept.chunk.rowCount();
        ids.free(kept);
        kept.log.freed(rows);
    }

    // ------------------------------------------------------------------ changes

    /**
     * Appends a row to a table that {@linkplain #isAppended is only appended to}. The caller calls
     * {@link #appended}.
     */
    void append(long slot, int id) {
        int first = Memory.getInt(slot + linkOffset);
        if (first == 0) {
            Memory.putInt(slot + linkOffset, id + 1);
        } else {
            links.setNext(id, first);
            Memory.putInt(slot + linkOffset, id + 1 | RowLinks.MORE);
        }
    }

    /** Counts the rows of a chunk that were appended. */
    void appended(KeptChunk kept, int rows) {
        kept.liveRows += rows;
        kept.log.liveRows += rows;
        rowCount += rows;
    }

    /** Makes room in the indexes, so that {@link #add} reserves no memory. */
    void makeRoom(int hash, int identityHash) {
        chains.makeRoom(hash);
        if (identityIndex != null) {
            identityIndex.makeRoomIfFull(identityHash);
        }
    }

    /**
     * Adds a row whose key is not null.
     *
     * @param matches rows of the other input that it matches
     */
    void add(KeptChunk kept, int row, long key, int hash, int identityHash, int matches) {
        int id = kept.id(row);
        if (identityIndex != null) {
            long slot = findIdentity(kept.chunk, row, key, identityHash);
            int old = identityIndex.id(slot);
            if (old < 0) {
                identityIndex.add(slot, identityHash, id);
                link(key, hash, id, matches, 1);
            } else if (isMultiset && !expires) {
                links.setCopies(old, links.copies(old) + 1);
                rowCount++;
                if (hasMatches) {
                    links.setMatches(old, matches);
                }
            } else {
                identityIndex.replace(slot, id);
                replace(key, hash, old, id, matches, isMultiset ? copies(old) + 1 : 1);
            }
            return;
        }
        int old = input.isChangelog() ? findInChain(key, hash, kept.chunk, row) : -1;
        if (old >= 0) {
            replace(key, hash, old, id, matches, 1);
        } else {
            link(key, hash, id, matches, 1);
        }
    }

    private void link(long key, int hash, int id, int matches, int copies) {
        chains.add(key, hash, id);
        added(id, matches, copies);
    }

    private void replace(long key, int hash, int old, int id, int matches, int copies) {
        chains.replace(key, hash, old, id);
        removed(old);
        added(id, matches, copies);
    }

    /** Retracts a row whose key is not null. */
    void retract(Chunk chunk, int row, long key, int hash, int identityHash) {
        int old;
        long identitySlot = 0;
        if (identityIndex != null) {
            identitySlot = findIdentity(chunk, row, key, identityHash);
            old = identityIndex.id(identitySlot);
        } else {
            old = findInChain(key, hash, chunk, row);
        }
        if (old < 0) {
            unknownRetractions++;
        } else if (copies(old) > 1) {
            links.setCopies(old, links.copies(old) - 1);
            rowCount--;
        } else {
            if (identityIndex != null) {
                identityIndex.remove(identityHash, identitySlot);
            }
            remove(old, key, hash);
        }
    }

    private void remove(int id, long key, int hash) {
        chains.remove(key, hash, id);
        removed(id);
    }

    private long findIdentity(Chunk chunk, int row, long key, int identityHash) {
        return identityIndex.find(
                identityHash,
                id -> {
                    Chunk other = ids.chunk(id).chunk;
                    int otherRow = ids.row(id);
                    return columns.key(other, otherRow) == key
                            && columns.isSameRow(chunk, row, other, otherRow);
                });
    }

    /** Returns the row of a unique key, or -1. */
    private int findInChain(long key, int hash, Chunk chunk, int row) {
        return chains.find(
                key,
                hash,
                id ->
                        !input.isHashed()
                                || columns.isSameKey(
                                        chunk, row, columns, ids.chunk(id).chunk, ids.row(id)));
    }

    /** Counts a row that was added to its chain. */
    private void added(int id, int matches, int copies) {
        if (hasMatches) {
            links.setMatches(id, matches);
        }
        if (isMultiset) {
            links.setCopies(id, copies);
        }
        ids.setLive(id);
        ids.chunk(id).log.liveRows++;
        rowCount += copies;
    }

    /** Counts a row that was removed from its chain. */
    private void removed(int id) {
        rowCount -= copies(id);
        KeptChunk kept = ids.chunk(id);
        kept.log.liveRows--;
        if (ids.setDead(id) == 0) {
            candidates.add(kept);
        }
    }

    /** Gives a row another id, in a chunk that contains a copy of it. */
    void move(int from, int to) {
        Chunk chunk = ids.chunk(to).chunk;
        int row = ids.row(to);
        long key = columns.key(chunk, row);
        int hash = KeyIndex.hashOf(key);
        links.copy(from, to);
        chains.move(key, hash, from, to);
        if (identityIndex != null) {
            int identityHash = columns.identityHash(hash, chunk, row);
            identityIndex.replace(identityIndex.find(identityHash, id -> id == from), to);
        }
        KeptChunk kept = ids.chunk(to);
        ids.setLive(to);
        kept.log.liveRows++;
        ids.chunk(from).log.liveRows--;
        ids.setDead(from);
    }

    // ------------------------------------------------------------------ time to live

    void removeExpired(long nowMs) {
        if (expires) {
            logs.values().forEach(log -> removeExpired(log, nowMs));
        }
    }

    /** Removes the expired rows of a radix partition. */
    void removeExpired(int partition, long nowMs) {
        ChunkLog log = expires ? logs.get(partition) : null;
        if (log != null) {
            removeExpired(log, nowMs);
        }
    }

    private void removeExpired(ChunkLog log, long nowMs) {
        List<KeptChunk> chunks = log.chunks;
        while (log.firstUnexpired < chunks.size()
                && nowMs - chunks.get(log.firstUnexpired).timeMs >= input.timeToLiveMs()) {
            expire(chunks.get(log.firstUnexpired++));
        }
    }

    private void expire(KeptChunk kept) {
        for (int row = 0; kept.liveRows > 0; row++) {
            int id = kept.id(row);
            if (ids.isLive(id)) {
                long key = columns.key(kept.chunk, row);
                int hash = KeyIndex.hashOf(key);
                expiredRows += copies(id);
                if (identityIndex != null) {
                    int identityHash = columns.identityHash(hash, kept.chunk, row);
                    long slot = identityIndex.find(identityHash, other -> other == id);
                    identityIndex.remove(identityHash, slot);
                }
                remove(id, key, hash);
            }
        }
    }

    @Override
    public void close() {
        links.close();
        chains.close();
        if (identityIndex != null) {
            identityIndex.close();
        }
        ids.close();
    }
}
