// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.bulk.BulkInput;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.bulk.BulkKeyEncoder;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.bulk.VariableWidthRow;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.PagedMemory;
import org.jspecify.annotations.Nullable;

/**
 * Writes the rows of one input of a bulk join to runs: those that are joined, and, if the join
 * returns rows without a match, those with a null in their key. Their variable-width columns stay
 * in host memory. Not thread-safe.
 */
final class BulkTable implements AutoCloseable {

    /** Rows that are encoded at once, so that their words stay in the processor's cache. */
    private static final int SLICE_ROWS = 8 << 10;

    private final BulkRunLayout layout;
    private final BulkKeyEncoder encoder;
    private final VariableWidthRow values;
    private final RunStaging joined;
    private final RunStaging unjoined;
    private final PagedMemory variableWidth;
    private final @Nullable KeyArena keys;
    private final boolean keepsNulls;

    /** Rows of the slice that are appended next, if it has nulls. */
    private final int[] selection = new int[SLICE_ROWS];

    private boolean isAscending;
    private long lastWord = Long.MIN_VALUE;

    /**
     * @param staging owner of the pinned runs
     */
    BulkTable(
            BulkJoinSpec spec,
            JoinSide side,
            BulkDevice device,
            BulkMemory staging,
            BulkStorage storage) {
        this.layout = storage.layout(side);
        this.encoder = new BulkKeyEncoder(spec, side, SLICE_ROWS);
        this.values = new VariableWidthRow(spec.input(side).schema());
        this.joined = new RunStaging(device, staging, layout, storage.joined(side));
        this.unjoined = new RunStaging(device, staging, layout, storage.unjoined(side));
        this.variableWidth = new PagedMemory(device.hostMemory());
        this.keepsNulls = spec.kind().keepsUnmatched(side);
        this.isAscending = !layout.hasKeyRecords();
        this.keys =
                layout.hasKeyRecords()
                        ? new KeyArena(device, staging, storage::allocateKeys)
                        : null;
        // before rows can fill the host memory
        joined.reserve();
        if (keepsNulls && hasNullableKey(spec.input(side))) {
            unjoined.reserve();
        }
    }

    private static boolean hasNullableKey(BulkInput input) {
        return input.keyColumns().stream().anyMatch(key -> input.schema().column(key).nullable());
    }

    /**
     * Returns whether the words of the joined rows are exact and in ascending order, as signed
     * numbers of their width on the device. Keys of less than 4 bytes have words without sign, so
     * that those with negative numbers may count as out of order.
     */
    boolean isAscending() {
        return isAscending;
    }

    /** Returns the bytes of variable-width values in host memory. */
    long hostBytes() {
        return variableWidth.lengthBytes();
    }

    /**
     * Appends the rows of a chunk.
     *
     * @throws io.github.gpujoin.core.engine.EngineUnavailableException if the memory does not
     *     suffice, or the device failed
     */
    void append(Chunk chunk) throws InterruptedException {
        int row = 0;
        while (row < chunk.rowCount()) {
            int count = Math.min(SLICE_ROWS, chunk.rowCount() - row);
            encoder.encode(chunk, row, count);
            checkOrder(count);
            if (encoder.hasNulls()) {
                appendSelected(joined, chunk, row, select(count, false));
                if (keepsNulls) {
                    appendSelected(unjoined, chunk, row, select(count, true));
                }
            } else {
                appendAll(chunk, row, count);
            }
            row += count;
        }
    }

    /** Costs nothing once rows are out of order. */
    private void checkOrder(int count) {
        long[] words = encoder.words();
        for (int i = 0; isAscending && i < count; i++) {
            if (!encoder.isNull(i)) {
                long word = layout.wordBytes() == Long.BYTES ? words[i] : (int) words[i];
                isAscending = lastWord <= word;
                lastWord = word;
            }
        }
    }

    private int select(int count, boolean isNull) {
        int selected = 0;
        for (int i = 0; i < count; i++) {
            if (encoder.isNull(i) == isNull) {
                selection[selected++] = i;
            }
        }
        return selected;
    }

    private void appendAll(Chunk chunk, int firstRow, int count) throws InterruptedException {
        int done = 0;
        while (done < count) {
            int rows = Math.min(joined.room(), count - done);
            long run = joined.address();
            int at = joined.rowOfRun();
            putWords(run, at, done, rows);
            for (int column : layout.storedColumns()) {
                int width = layout.widthBytes(column);
                Memory.copy(
                        chunk.array(),
                        chunk.columnStart(column) + (long) width * (firstRow + done),
                        null,
                        run + layout.offset(column) + (long) width * at,
                        (long) width * rows);
            }
            if (keys != null) {
                putKeys(run, at, done, rows);
            }
            if (layout.hasReferences()) {
                for (int i = 0; i < rows; i++) {
                    putReference(chunk, firstRow + done + i, run, at + i);
                }
            }
            joined.added(rows);
            done += rows;
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

    /** Stores the keys of rows, all of which are joined, and the addresses of the records. */
    private void putKeys(long run, int at, int first, int rows) throws InterruptedException {
        byte[] bytes = encoder.keyBytes();
        long target = run + layout.keyRecordOffset() + (long) Long.BYTES * at;
        for (int i = 0; i < rows; i++) {
            int start = encoder.keyStart(first + i);
            long record = keys.append(bytes, start, encoder.keyEnd(first + i));
            Memory.putLong(target + (long) Long.BYTES * i, record);
        }
    }

    /** Appends the first {@code count} rows of the {@link #selection}. */
    private void appendSelected(RunStaging target, Chunk chunk, int firstRow, int count)
            throws InterruptedException {
        int done = 0;
        while (done < count) {
            int rows = Math.min(target.room(), count - done);
            for (int i = 0; i < rows; i++) {
                int row = selection[done + i];
                putRow(target.address(), target.rowOfRun() + i, chunk, firstRow + row, row);
            }
            target.added(rows);
            done += rows;
        }
    }

    private void putRow(long run, int at, Chunk chunk, int row, int wordIndex)
            throws InterruptedException {
        int wordBytes = layout.wordBytes();
        Memory.putInteger(null, run + (long) wordBytes * at, wordBytes, encoder.words()[wordIndex]);
        for (int column : layout.storedColumns()) {
            int width = layout.widthBytes(column);
            long source = chunk.columnStart(column) + (long) width * row;
            long value = Memory.getInteger(chunk.array(), source, width);
            Memory.putInteger(null, run + layout.offset(column) + (long) width * at, width, value);
        }
        if (keys != null && !encoder.isNull(wordIndex)) {
            putKeys(run, at, wordIndex, 1);
        }
        if (layout.hasReferences()) {
            putReference(chunk, row, run, at);
        }
    }

    private void putReference(Chunk chunk, int row, long run, int at) {
        values.at(chunk, row);
        int bytes = values.lengthBytes(layout.variableWidthColumns());
        long address = variableWidth.allocate(Integer.BYTES + (long) bytes);
        Memory.putInt(address, bytes);
        values.copy(chunk, layout.variableWidthColumns(), address + Integer.BYTES);
        Memory.putLong(run + layout.referenceOffset() + 8L * at, address);
    }

    /** Passes on the last rows. */
    void finish() throws InterruptedException {
        joined.finish();
        unjoined.finish();
        if (keys != null) {
            keys.finish();
        }
    }

    /** Frees the variable-width values. */
    @Override
    public void close() {
        variableWidth.close();
    }
}
