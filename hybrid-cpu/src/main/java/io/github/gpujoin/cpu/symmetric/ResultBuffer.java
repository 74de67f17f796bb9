// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.symmetric;

import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.symmetric.ChangeKind;
import io.github.gpujoin.core.symmetric.SymmetricBatch;
import org.jspecify.annotations.Nullable;

/**
 * Results that refer to rows of the submitted chunk by number, and to rows of the other input by
 * id. A batch is the part before the results of a row that is not complete, unless it is full of
 * them.
 *
 * <pre>
 *  +----------------------------+-------------------------+----------+
 *  | results of complete rows   | results of the next row | room     |
 *  +----------------------------+-------------------------+----------+
 *  0                            rowStart                  count
 * </pre>
 */
final class ResultBuffer implements SymmetricBatch {

    /** 36 KiB, which stay in a second-level cache until the caller has read them. */
    static final int CAPACITY = 4096;

    static final int NONE = -1;

    private static final ChangeKind[] KINDS = ChangeKind.values();

    private final byte[] kinds = new byte[CAPACITY];
    private final int[] ownRows = new int[CAPACITY];
    private final int[] otherIds = new int[CAPACITY];
    private int count;
    private int rowStart;
    private int resultCount;
    private int completedRows;
    private boolean isLast;
    private JoinSide side = JoinSide.LEFT;
    private Chunk chunk;
    private ChunkIds others;

    /** Starts a submitted chunk. */
    void open(JoinSide side, Chunk chunk, ChunkIds others) {
        this.side = side;
        this.chunk = chunk;
        this.others = others;
        this.count = 0;
        this.rowStart = 0;
        this.resultCount = 0;
    }

    /** Drops the results of the last batch. */
    void drop() {
        if (resultCount > 0) {
            int kept = count - resultCount;
            System.arraycopy(kinds, resultCount, kinds, 0, kept);
            System.arraycopy(ownRows, resultCount, ownRows, 0, kept);
            System.arraycopy(otherIds, resultCount, otherIds, 0, kept);
            count = kept;
            rowStart = 0;
            resultCount = 0;
        }
    }

    boolean hasRoom(int results) {
        return count <= CAPACITY - results;
    }

    void add(byte kind, int ownRow, int otherId) {
        kinds[count] = kind;
        ownRows[count] = ownRow;
        otherIds[count] = otherId;
        count++;
    }

    void startRow() {
        rowStart = count;
    }

    /** Drops the results of the row that was started last. */
    void dropRow() {
        count = rowStart;
    }

    /**
     * Returns the batch.
     *
     * @param isAmidRow whether the row that was started last has more results
     */
    SymmetricBatch seal(int completedRows, boolean isAmidRow) {
        this.resultCount = isAmidRow && rowStart > 0 ? rowStart : count;
        this.completedRows = completedRows;
        this.isLast = completedRows == chunk.rowCount();
        return this;
    }

    // ------------------------------------------------------------------ as a batch

    @Override
    public int resultCount() {
        return resultCount;
    }

    @Override
    public int completedRows() {
        return completedRows;
    }

    @Override
    public boolean isLast() {
        return isLast;
    }

    @Override
    public ChangeKind kind(int result) {
        return KINDS[kinds[result]];
    }

    @Override
    public @Nullable Chunk chunk(JoinSide side, int result) {
        if (side == this.side) {
            return ownRows[result] == NONE ? null : chunk;
        }
        int id = otherIds[result];
        return id == NONE ? null : others.chunk(id).chunk;
    }

    @Override
    public int row(JoinSide side, int result) {
        if (side == this.side) {
            return ownRows[result];
        }
        int id = otherIds[result];
        return id == NONE ? NONE : others.row(id);
    }
}
