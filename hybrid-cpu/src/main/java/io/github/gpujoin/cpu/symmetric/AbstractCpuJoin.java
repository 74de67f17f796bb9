// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.symmetric;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.MemoryAccount;
import io.github.gpujoin.core.region.MemoryRefusedException;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.symmetric.AbstractSymmetricJoin;
import io.github.gpujoin.core.symmetric.ChangeKind;
import io.github.gpujoin.core.symmetric.SymmetricBatch;
import io.github.gpujoin.core.symmetric.SymmetricInput;
import io.github.gpujoin.core.symmetric.SymmetricJoinStats;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The tables of a join on the thread of the caller, and the chunk that is being joined. Rows are
 * joined one after another, but the index is read ahead for {@value #AHEAD_ROWS} rows, so that
 * their cache misses overlap.
 *
 * @param <I> what finds rows by key
 */
abstract class AbstractCpuJoin<I extends RowIndex> extends AbstractSymmetricJoin {

    static final int AHEAD_ROWS = 256;

    /** A spill moves a part of one in this many of the chunks on the heap, to be rare. */
    private static final int SPILLED_PARTS = 8;

    /** Rows that compaction may copy before a chunk is joined. */
    private static final int COPIED_ROWS = 16 << 10;

    final I index;
    final SideTable[] tables;
    final ResultBuffer results;

    /** Keys and hashes of the rows from {@link #aheadFrom} on. */
    final long[] keys = new long[AHEAD_ROWS];

    final int[] hashes = new int[AHEAD_ROWS];

    private final MemoryAccount account = new MemoryAccount("host");

    /** Bounds all memory, and spills chunks where it is refused. */
    final MemoryReservations memory;

    /** Null if memory that is refused is a failure. */
    private final @Nullable ChunkFiles files;

    final int[] identityHashes = new int[AHEAD_ROWS];

    /** Keeps the JIT compiler from dropping the reads ahead. */
    private long touched;

    // The chunk that is being joined, from `row` on.
    SideTable own;
    Chunk chunk;
    @Nullable KeptChunk kept;
    int row;
    int aheadFrom;
    int aheadEnd;
    private int firstRow;

    /** Row before which the batch ends. */
    int batchEnd;

    // The row that is being joined, if its results did not fit.
    boolean isAmidRow;
    ChangeKind kind = ChangeKind.INSERT;

    /**
     * @param countsMatches for each input whether its rows count their matches
     * @param newIndex creates the index, which the join closes
     * @param spillDirectory of files for chunks that exceed the memory; null for none
     */
    AbstractCpuJoin(
            List<SymmetricInput> inputs,
            List<Boolean> countsMatches,
            Function<Allocator, I> newIndex,
            MemoryReservations hostMemory,
            @Nullable Path spillDirectory) {
        super(inputs);
        this.files = spillDirectory == null ? null : new ChunkFiles(spillDirectory);
        this.tables = new SideTable[inputs.size()];
        this.memory = new SpillingReservations(hostMemory, this::spill);
        Allocator allocator = account.within(memory);
        this.index = newIndex.apply(allocator);
        try {
            for (int i = 0; i < tables.length; i++) {
                tables[i] =
                        new SideTable(
                                inputs.get(i), i, countsMatches.get(i), index, allocator, memory);
            }
        } catch (Throwable e) {
            release();
            throw e;
        }
        this.own = tables[0];
        this.results = new ResultBuffer(tables);
    }

    /**
     * Moves chunks of the table that has most of them on the heap to files. The bytes of a chunk
     * stay where they are for those who have read its reference.
     */
    private boolean spill(long neededBytes, MemoryRefusedException refusal) {
        if (files == null || tables[tables.length - 1] == null) {
            return false;
        }
        ChunkIds largest = tables[0].ids;
        for (SideTable table : tables) {
            largest = table.ids.heapBytes() > largest.heapBytes() ? table.ids : largest;
        }
        try {
            return largest.spill(files, Math.max(neededBytes, largest.heapBytes() / SPILLED_PARTS))
                    > 0;
        } catch (IOException e) {
            refusal.addSuppressed(e);
            return false;
        }
    }

    // ------------------------------------------------------------------ chunks

    @Override
    protected final void apply(int input, Chunk loaded, long timeMs) {
        startLoading();
        tables[input].removeExpired(loaded.partition(), timeMs);
        open(input, loaded, 0, timeMs);
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
        compactFiles();
    }

    /** Sends changes of earlier chunks to a device. */
    void startLoading() {}

    @Override
    protected final void begin(int input, Chunk submitted, int firstRow, long timeMs) {
        removeExpired(timeMs);
        open(input, submitted, firstRow, timeMs);
        results.open(input, chunk);
        isAmidRow = false;
        startProbes();
    }

    /** Starts to look up the rows of the chunk, if that is done for all of them at once. */
    void startProbes() {}

    /** Starts a chunk, of which the table has no row yet. */
    void open(int input, Chunk opened, int firstRow, long timeMs) {
        this.own = tables[input];
        this.chunk = opened;
        this.kept = own.keep(opened, timeMs);
        this.firstRow = firstRow;
        this.row = 0;
        this.aheadFrom = 0;
        this.aheadEnd = 0;
    }

    /**
     * Returns the next results. A batch that continues the results of a row has no others, as these
     * would be lost if the memory of a later row is refused.
     */
    @Override
    protected final SymmetricBatch next() {
        batchEnd = results.endsAmidRow() ? row + 1 : chunk.rowCount();
        results.drop();
        boolean hasRoom = true;
        while (hasRoom && row < batchEnd) {
            if (row == aheadEnd) {
                readAhead();
            }
            hasRoom = joinRows();
        }
        return results.seal(row, isAmidRow);
    }

    /**
     * Joins the next row, or several that were read ahead and belong to the batch.
     *
     * @return false if results did not fit
     */
    abstract boolean joinRows();

    /**
     * Hashes the next rows, and reads their slots, then the rows to which these refer. The loads of
     * each loop are independent, so that the processor overlaps their cache misses.
     */
    final void readAhead() {
        aheadFrom = row;
        int count = Math.min(AHEAD_ROWS, chunk.rowCount() - row);
        aheadEnd = row + count;
        own.columns.readKeys(chunk, row, count, keys);
        for (int i = 0; i < count; i++) {
            hashes[i] = KeyIndex.hashOf(keys[i]);
        }
        readIndexAhead(count);
    }

    /** Reads the index, and the rows that it finds, for the rows that were hashed. */
    abstract void readIndexAhead(int count);

    /** Hashes what identifies the rows, and reads the slots by which their changes find rows. */
    final void readIdentitiesAhead(int count) {
        long sum = 0;
        for (int i = 0; i < count; i++) {
            identityHashes[i] = own.identityHash(hashes[i], chunk, aheadFrom + i);
            sum += own.touchSlot(identityHashes[i]);
        }
        read(sum);
    }

    /** Uses the sum of values that were read ahead. */
    final void read(long sum) {
        touched += sum;
    }

    // ------------------------------------------------------------------ rows

    /** Whether results fit. Those of rows before the first that returns results are dropped. */
    final boolean hasRoom(int count) {
        if (!results.hasRoom(count) && row < firstRow) {
            results.dropRow();
        }
        return results.hasRoom(count);
    }

    final void endRow() {
        if (row < firstRow) {
            results.dropRow();
        }
        isAmidRow = false;
        row++;
    }

    /**
     * Makes room for the row, whose key is not null, before its first result, so that memory is
     * never refused amid its results.
     */
    final void makeRoom() {
        if (kind.isAddition()) {
            own.makeRoom(hashes[row - aheadFrom], identityHashes[row - aheadFrom]);
        }
    }

    /** Adds or retracts the row, whose key is not null. */
    final void changeTable(int matches) {
        int ahead = row - aheadFrom;
        if (kind.isAddition()) {
            own.add(kept, row, keys[ahead], hashes[ahead], identityHashes[ahead], matches);
        } else {
            own.retract(chunk, row, keys[ahead], hashes[ahead], identityHashes[ahead]);
        }
    }

    // ------------------------------------------------------------------ others

    @Override
    protected final void removeExpired(long timeMs) {
        for (SideTable table : tables) {
            table.removeExpired(timeMs);
            table.tidy(COPIED_ROWS);
        }
        compactFiles();
    }

    private void compactFiles() {
        if (files != null) {
            files.compact();
        }
    }

    @Override
    protected final void copyTo(int input, int partition, Consumer<AddedRows> chunks) {
        tables[input].copyRows(partition, chunks);
    }

    /** Returns the bytes of chunks on the heap. */
    final long chunkBytes() {
        return Arrays.stream(tables).mapToLong(table -> table.ids.heapBytes()).sum();
    }

    @Override
    public final SymmetricJoinStats stats() {
        return new SymmetricJoinStats(
                Arrays.stream(tables).map(SideTable::rowCount).toList(),
                Arrays.stream(tables).mapToLong(SideTable::unknownRetractions).sum(),
                Arrays.stream(tables).mapToLong(SideTable::expiredRows).sum(),
                account.usedBytes() + chunkBytes() + index.deviceBytes(),
                Arrays.stream(tables).mapToLong(table -> table.ids.spilledBytes()).sum());
    }

    @Override
    protected final void release() {
        index.close();
        Arrays.stream(tables).filter(Objects::nonNull).forEach(SideTable::close);
        if (files != null) {
            files.close();
        }
    }
}
