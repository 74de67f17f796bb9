// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.bulk.BulkKeyEncoder;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.bulk.VariableWidthRow;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.PagedMemory;

/**
 * Writes rows to pinned runs, and their variable-width columns to host memory of its own. Each
 * thread has one. Not thread-safe, except for {@link #hostBytes}.
 */
final class RunWriter implements AutoCloseable {

    /** Rows that are encoded at once, so that their words stay in the processor's cache. */
    static final int SLICE_ROWS = 8 << 10;

    private final BulkRunLayout layout;
    private final BulkKeyEncoder encoder;
    private final VariableWidthRow values;
    private final PagedMemory variableWidth;
    private volatile long hostBytes;

    /**
     * @param hostMemory of variable-width columns
     */
    RunWriter(BulkJoinSpec spec, JoinSide side, BulkRunLayout layout, Allocator hostMemory) {
        this.layout = layout;
        this.encoder = new BulkKeyEncoder(spec, side, SLICE_ROWS);
        this.values = new VariableWidthRow(spec.input(side).schema());
        this.variableWidth = new PagedMemory(hostMemory);
    }

    /** Returns the bytes of variable-width values in host memory. Any thread may call. */
    long hostBytes() {
        return hostBytes;
    }

    /** Frees the variable-width values. */
    @Override
    public void close() {
        variableWidth.close();
    }

    /** Returns the keys of the last rows that were encoded. */
    BulkKeyEncoder encoder() {
        return encoder;
    }

    /** Returns an encoded word in its width on the device. */
    long word(int row) {
        long word = encoder.words()[row];
        return layout.wordBytes() == Long.BYTES ? word : (int) word;
    }

    /**
     * Encodes and writes all rows of a claim, none of which has a null in its key.
     *
     * @param order checks the words
     */
    void write(Chunk chunk, int firstRow, RowClaim claim, WordOrder order) {
        long recordBytes = 0;
        for (int done = 0; done < claim.rowCount(); ) {
            int rows = Math.min(SLICE_ROWS, claim.rowCount() - done);
            encoder.encode(chunk, firstRow + done, rows);
            order.check(this, rows);
            recordBytes += writeEncoded(chunk, firstRow + done, 0, claim, done, rows, recordBytes);
            done += rows;
        }
    }

    /**
     * Writes encoded rows, none of which has a null in its key.
     *
     * @param row in the chunk
     * @param word its index among the encoded rows
     * @param done rows of the claim that were written before
     * @param doneBytes of their key records
     * @return the bytes of the key records
     */
    long writeEncoded(
            Chunk chunk, int row, int word, RowClaim claim, int done, int rows, long doneBytes) {
        long run = claim.rows().run().address();
        int at = claim.rows().first() + done;
        putWords(run, at, word, rows);
        for (int column : layout.storedColumns()) {
            int width = layout.widthBytes(column);
            Memory.copy(
                    chunk.array(),
                    chunk.columnStart(column) + (long) width * row,
                    null,
                    run + layout.offset(column) + (long) width * at,
                    (long) width * rows);
        }
        if (layout.hasReferences()) {
            for (int i = 0; i < rows; i++) {
                putReference(chunk, row + i, run, at + i);
            }
        }
        return claim.keys() == null ? 0 : putRecords(run, at, word, rows, claim.keys(), doneBytes);
    }

    /** Writes the key records of rows, and their addresses; returns the bytes of the records. */
    private long putRecords(
            long run, int at, int word, int rows, KeyArena.Claim claim, long doneBytes) {
        byte[] bytes = encoder.keyBytes();
        long target = run + layout.keyRecordOffset() + (long) Long.BYTES * at;
        long next = doneBytes;
        for (int i = 0; i < rows; i++) {
            Memory.putLong(target + (long) Long.BYTES * i, claim.address() + next);
            int start = encoder.keyStart(word + i);
            next += KeyArena.write(claim.pinned() + next, bytes, start, encoder.keyEnd(word + i));
        }
        return next - doneBytes;
    }

    /**
     * Writes one encoded row, which may have a null in its key.
     *
     * @param word its index among the encoded rows
     */
    void writeRow(Chunk chunk, int row, int word, RowClaim claim) {
        long run = claim.rows().run().address();
        int at = claim.rows().first();
        int wordBytes = layout.wordBytes();
        Memory.putInteger(null, run + (long) wordBytes * at, wordBytes, word(word));
        for (int column : layout.storedColumns()) {
            int width = layout.widthBytes(column);
            long source = chunk.columnStart(column) + (long) width * row;
            long value = Memory.getInteger(chunk.array(), source, width);
            Memory.putInteger(null, run + layout.offset(column) + (long) width * at, width, value);
        }
        if (layout.hasReferences()) {
            putReference(chunk, row, run, at);
        }
        if (claim.keys() != null) {
            putRecords(run, at, word, 1, claim.keys(), 0);
        }
    }

    private void putReference(Chunk chunk, int row, long run, int at) {
        values.at(chunk, row);
        int bytes = values.lengthBytes(layout.variableWidthColumns());
        long address = variableWidth.allocate(Integer.BYTES + (long) bytes);
        if (variableWidth.lengthBytes() != hostBytes) {
            hostBytes = variableWidth.lengthBytes();
        }
        Memory.putInt(address, bytes);
        values.copy(chunk, layout.variableWidthColumns(), address + Integer.BYTES);
        Memory.putLong(run + layout.referenceOffset() + 8L * at, address);
    }

    private void putWords(long run, int at, int first, int rows) {
        long[] words = encoder.words();
        if (layout.wordBytes() == Long.BYTES) {
            long source = Memory.LONGS + (long) Long.BYTES * first;
            Memory.copy(words, source, null, run + 8L * at, 8L * rows);
        } else {
            for (int i = 0; i < rows; i++) {
                Memory.putInt(run + 4L * (at + i), (int) words[first + i]);
            }
        }
    }
}
