// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.symmetric;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.symmetric.ChangeKind;
import io.github.gpujoin.core.symmetric.SymmetricBatch;
import org.jspecify.annotations.Nullable;

/**
 * Results that refer to rows of the submitted chunk by number, and to rows of other inputs by id. A
 * batch is the part before the results of a row that is not complete, unless it is full of them.
 *
 * <pre>
 *  +----------------------------+-------------------------+----------+
 *  | results of complete rows   | results of the next row | room     |
 *  +----------------------------+-------------------------+----------+
 *  0                            rowStart                  count
 * </pre>
 */
final class ResultBuffer implements SymmetricBatch {

    /** 36 KiB of two inputs, which stay in a second-level cache until the caller has read them. */
    static final int CAPACITY = 4096;

    static final int NONE = -1;

    private static final ChangeKind[] KINDS = ChangeKind.values();

    private final byte[] kinds = new byte[CAPACITY];

    /** Row numbers of the input that is joined, and ids of the others, by input. */
    private final int[][] refs;

    private final SideTable[] tables;

    // Of two inputs, the arrays of the one that is joined and of the other.
    private int[] ownRows;
    private int[] otherIds;
    private int count;
    private int rowStart;
    private int resultCount;
    private int completedRows;
    private boolean endsAmidRow;
    private int input;
    private Chunk chunk;

    ResultBuffer(SideTable[] tables) {
        this.tables = tables;
        this.refs = new int[tables.length][CAPACITY];
    }

    /** Starts a submitted chunk. */
    void open(int input, Chunk chunk) {
        this.input = input;
        this.ownRows = refs[input];
        this.otherIds = refs[input == 0 ? 1 : 0];
        this.chunk = chunk;
        this.count = 0;
        this.rowStart = 0;
        this.resultCount = 0;
    }

    /** Drops the results of the last batch. */
    void drop() {
        if (resultCount > 0) {
            int kept = count - resultCount;
            System.arraycopy(kinds, resultCount, kinds, 0, kept);
            for (int[] each : refs) {
                System.arraycopy(each, resultCount, each, 0, kept);
            }
            count = kept;
            rowStart = 0;
            resultCount = 0;
        }
    }

    boolean hasRoom(int results) {
        return count <= CAPACITY - results;
    }

    /** Adds a result of two inputs. */
    void add(byte kind, int ownRow, int otherId) {
        kinds[count] = kind;
        ownRows[count] = ownRow;
        otherIds[count] = otherId;
        count++;
    }

    /**
     * Adds a result.
     *
     * @param rows number of the row of the submitted chunk, ids of rows of other inputs, or {@link
     *     #NONE}, by input
     */
    void add(byte kind, int[] rows) {
        kinds[count] = kind;
        for (int i = 0; i < rows.length; i++) {
            refs[i][count] = rows[i];
        }
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
        this.endsAmidRow = isAmidRow && rowStart == 0;
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
    public boolean endsAmidRow() {
        return endsAmidRow;
    }

    @Override
    public boolean isLast() {
        return completedRows == chunk.rowCount();
    }

    @Override
    public ChangeKind kind(int result) {
        return KINDS[kinds[result]];
    }

    @Override
    public @Nullable Chunk chunk(int input, int result) {
        int ref = refs[input][result];
        if (ref == NONE) {
            return null;
        }
        return input == this.input ? chunk : tables[input].ids.chunk(ref).chunk;
    }

    @Override
    public int row(int input, int result) {
        int ref = refs[input][result];
        return input == this.input || ref == NONE ? ref : tables[input].ids.row(ref);
    }
}
