// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.bulk.ResultSides;
import org.jspecify.annotations.Nullable;

/**
 * Finds the pairs of two tables whose rows are in the order of their words: merges them without
 * sorting or partitioning ({@link SortMergeJoin}). The kernels read columns, so the words are
 * copied out of the runs first. Not thread-safe.
 */
final class BulkMerge {

    private final BulkDevice device;
    private final BulkMemory memory;
    private final BulkRows left;
    private final BulkRows right;
    private final int wordBytes;
    private final SortMergeJoin join;
    private final ResidentCall.Table lefts;
    private final ResidentCall.Table rights;
    private final long workspace;
    private final ResidentCall.Matches matches;
    private long foundRows;
    private long takenRows;

    /**
     * Reserves the memory.
     *
     * @param left in ascending order of its words
     * @param right in ascending order, too
     */
    BulkMerge(BulkDevice device, BulkMemory memory, BulkRows left, BulkRows right) {
        this.device = device;
        this.memory = memory;
        this.left = left;
        this.right = right;
        this.wordBytes = left.layout().wordBytes();
        this.join = memory.whileStopped(this::createJoin);
        this.lefts = columns(left);
        this.rights = columns(right);
        long bytes = device.whileStopped(() -> join.workspaceBytes(lefts, rights));
        this.workspace = memory.allocate(bytes);
        this.matches = allocateMatches();
    }

    private SortMergeJoin createJoin(Buffers buffers) {
        return new SortMergeJoin(device.driver(), Byte.SIZE * wordBytes, buffers);
    }

    private ResidentCall.Matches allocateMatches() {
        long matchCount = memory.allocate(Long.BYTES);
        long most = Math.max(left.rowCount(), right.rowCount());
        long capacityRows = BulkMatcher.capacityRows(memory, most, wordBytes);
        return new ResidentCall.Matches(
                0,
                memory.allocate(wordBytes * capacityRows),
                memory.allocate(wordBytes * capacityRows),
                capacityRows,
                matchCount);
    }

    private ResidentCall.Table columns(BulkRows table) {
        long bytes = wordBytes * table.rowCount();
        return ResidentCall.Table.ofColumns(
                memory.allocate(bytes), memory.allocate(bytes), table.rowCount());
    }

    /**
     * Finds all pairs.
     *
     * @return false if they do not fit; then this object has none, and is to be closed
     */
    boolean findAll() {
        device.run(
                () -> {
                    copy(left, lefts);
                    copy(right, rights);
                    join.start(lefts, rights, matches, workspace);
                });
        long found = device.read(matches.matchCount());
        foundRows = found <= matches.capacityRows() ? found : 0;
        return found <= matches.capacityRows();
    }

    /** Queues copies of the words and of the row numbers. */
    private void copy(BulkRows table, ResidentCall.Table columns) {
        BulkRunLayout.Source words = new BulkRunLayout.Source(0, wordBytes, wordBytes);
        BulkBatch.Rows all = BulkBatch.Rows.from(table.runs(), 0);
        BulkColumns.gather(device.driver(), words, all, columns.rows(), columns.keys());
        BulkColumns.number(device.driver(), wordBytes, columns.rows(), columns.payloads());
    }

    /**
     * Returns the next pairs, in the order of their words.
     *
     * @return null if there are no more
     */
    @Nullable BulkBatch next(long batchRows) {
        if (takenRows == foundRows) {
            return null;
        }
        long first = takenRows;
        takenRows += Math.min(batchRows, foundRows - first);
        return new BulkBatch(
                ResultSides.BOTH,
                rows(JoinSide.LEFT, matches.buildPayloads(), first),
                rows(JoinSide.RIGHT, matches.probePayloads(), first),
                takenRows - first);
    }

    private BulkBatch.Rows rows(JoinSide side, long numbers, long first) {
        BulkRows table = side == JoinSide.LEFT ? left : right;
        return new BulkBatch.Rows(table.runs(), numbers, first, wordBytes);
    }
}
