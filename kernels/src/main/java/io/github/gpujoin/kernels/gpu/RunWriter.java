// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.bulk.BulkKeyEncoder;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Memory;

/** Writes words and fixed-width columns of rows to pinned runs. Each thread has its own. */
final class RunWriter {

    /** Rows that are encoded at once, so that their words stay in the processor's cache. */
    static final int SLICE_ROWS = 8 << 10;

    private final BulkRunLayout layout;
    private final BulkKeyEncoder encoder;

    RunWriter(BulkJoinSpec spec, JoinSide side, BulkRunLayout layout) {
        this.layout = layout;
        this.encoder = new BulkKeyEncoder(spec, side, SLICE_ROWS);
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
    void write(Chunk chunk, int firstRow, RunStaging.Claim claim, WordOrder order) {
        for (int done = 0; done < claim.rows(); ) {
            int rows = Math.min(SLICE_ROWS, claim.rows() - done);
            encoder.encode(chunk, firstRow + done, rows);
            order.check(this, rows);
            writeEncoded(chunk, firstRow + done, 0, claim.run(), claim.first() + done, rows);
            done += rows;
        }
    }

    /**
     * Writes encoded rows.
     *
     * @param row in the chunk
     * @param word its index among the encoded rows
     * @param at its position in the run
     */
    void writeEncoded(Chunk chunk, int row, int word, StagedRun run, int at, int rows) {
        putWords(run.address(), at, word, rows);
        for (int column : layout.storedColumns()) {
            int width = layout.widthBytes(column);
            Memory.copy(
                    chunk.array(),
                    chunk.columnStart(column) + (long) width * row,
                    null,
                    run.address() + layout.offset(column) + (long) width * at,
                    (long) width * rows);
        }
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
