// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import io.github.gpujoin.core.encoding.PackedCodes;
import io.github.gpujoin.core.filter.LongCondition;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.region.Memory;
import java.io.IOException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Reads the values of one column of a row group, page by page. A column of fixed width goes
 * straight to a chunk. For any other, {@link #load} decodes the values of some rows, which {@link
 * #append} then adds row by row. Not thread-safe.
 */
final class ColumnPages {

    private final Column column;
    private final PageCursor pages;

    /** Whether values are integers or bits of floats, not byte sequences. */
    private final boolean isInteger;

    /** Of the rows of a batch: 1 for a value, 0 for null. */
    private final int[] defined;

    private final long[] longs;
    private final Binaries binaries;

    /** Whether the batch has the selected rows. */
    private boolean isSelected;

    /** Whether a row of the selection's batch may be null; then {@link #defined} tells which. */
    private boolean mayHaveNulls;

    /** Values of a loaded batch that were appended. */
    private int appended;

    /**
     * @param column of the chunk
     * @param source the same column in the file
     * @param maxRows of one batch
     */
    ColumnPages(Column column, ParquetColumn source, PageCursor pages, int maxRows) {
        this.column = column;
        this.pages = pages;
        this.isInteger = source.isInteger();
        this.defined = new int[maxRows];
        this.longs = new long[isInteger ? maxRows : 0];
        this.binaries = new Binaries(isInteger ? 0 : maxRows);
    }

    // ------------------------------------------------------------------ rows

    /**
     * Decodes rows of a column that has fixed width in the chunk.
     *
     * @param at offset in {@code target} of the first
     */
    void read(int rows, byte[] target, int at) throws IOException {
        int widthBytes = column.type().widthBytes();
        for (int done = 0; done < rows; ) {
            int some = Math.min(Math.min(rows - done, pages.startPage()), defined.length);
            requireDefined(some);
            readValues(some, target, at + done * widthBytes, widthBytes);
            pages.advance(some);
            done += some;
        }
    }

    /** Returns the dictionary of the column in the row group, if it has one. */
    DictionaryDecoder.@Nullable Values dictionary() {
        return pages.dictionary();
    }

    /**
     * Adds the codes of rows to others, up to the first page that has values instead. The column
     * has fixed width in the chunk.
     *
     * @return number of runs and single codes that they were stored as, about
     */
    long copyCodes(PackedCodes codes, int rows) throws IOException {
        long stored = 0;
        for (int done = 0; done < rows; ) {
            int some = Math.min(Math.min(rows - done, pages.startPage()), defined.length);
            if (!(pages.values() instanceof DictionaryDecoder decoder)) {
                break;
            }
            requireDefined(some);
            long before = decoder.stored();
            decoder.copyCodes(codes, some);
            stored += decoder.stored() - before;
            pages.advance(some);
            done += some;
        }
        return stored;
    }

    private void requireDefined(int rows) throws UnexpectedNullException {
        if (pages.readDefined(defined, 0, rows) < rows) {
            throw unexpectedNull(0, rows);
        }
    }

    /** Of some of the next rows, whose levels are in {@link #defined} from an index on. */
    private UnexpectedNullException unexpectedNull(int from, int rows) {
        int row = 0;
        while (row < rows && defined[from + row] != 0) {
            row++;
        }
        return new UnexpectedNullException(pages.nextRow() + row);
    }

    private void readValues(int count, byte[] target, int at, int widthBytes) {
        ValueDecoder decoder = pages.values();
        if (decoder.readColumn(target, at, widthBytes, count)) {
            return;
        }
        decoder.readLongs(longs, 0, count);
        for (int i = 0; i < count; i++) {
            long to = Memory.BYTES + at + (long) widthBytes * i;
            Memory.putInteger(target, to, widthBytes, longs[i]);
        }
    }

    /**
     * Decodes rows of a column that has variable width in the chunk; {@link #append} then adds
     * them.
     *
     * @param rows at most the maximum of a batch
     */
    void load(int rows) throws IOException {
        int loaded = 0;
        for (int done = 0; done < rows; ) {
            int some = Math.min(rows - done, pages.startPage());
            int count = pages.readDefined(defined, done, some);
            if (count < some && !column.nullable()) {
                throw unexpectedNull(done, some);
            }
            ValueDecoder decoder = pages.values();
            if (isInteger) {
                decoder.readLongs(longs, loaded, count);
            } else {
                decoder.readBinaries(binaries, loaded, count);
            }
            loaded += count;
            pages.advance(some);
            done += some;
        }
        appended = 0;
    }

    /** Adds the value of a row of the loaded batch, which are added in order. */
    void append(ChunkBuilder builder, int row) {
        if (defined[row] == 0) {
            builder.addNull();
        } else if (isInteger) {
            builder.addInteger(column.type().widthBytes(), longs[appended++]);
        } else {
            binaries.appendTo(builder, appended++);
        }
    }

    // ------------------------------------------------------------------ selected rows

    /** Starts a batch, of which {@link #select} decodes rows. */
    void startSelection() {
        isSelected = false;
    }

    /** Whether {@link #select} was called for the batch. */
    boolean isSelected() {
        return isSelected;
    }

    /**
     * Decodes some of the next rows, and skips all others.
     *
     * @param selected row numbers in the batch, ascending, of which {@code count} are decoded
     * @param rows of the batch
     */
    void select(int[] selected, int count, int rows) throws IOException {
        select(null, selected, count, rows);
    }

    /**
     * Decodes some of the next rows, and keeps those of them whose integer meets a condition. A
     * further call for the same batch tests a further condition on what is decoded.
     *
     * @param condition null to keep all
     * @return number of rows that remain, at the front of {@code selected}
     */
    int select(@Nullable LongCondition condition, int[] selected, int count, int rows)
            throws IOException {
        if (isSelected && condition != null) {
            return condition.select(longs, selected, 0, count, 0);
        }
        isSelected = true;
        mayHaveNulls = false;
        int next = 0;
        int kept = 0;
        for (int done = 0; done < rows; ) {
            int some = Math.min(rows - done, pages.startPage());
            int end = done + some == rows ? count : firstFrom(done + some, selected, next, count);
            kept = selectInPage(condition, selected, next, end, kept, done, some);
            next = end;
            pages.advance(some);
            done += some;
        }
        return kept;
    }

    /** Returns the index of the first selected row that is not before a row. */
    private static int firstFrom(int row, int[] selected, int from, int end) {
        int index = from;
        while (index < end && selected[index] < row) {
            index++;
        }
        return index;
    }

    private int selectInPage(
            @Nullable LongCondition condition,
            int[] selected,
            int from,
            int end,
            int to,
            int first,
            int count)
            throws UnexpectedNullException {
        ValueDecoder decoder = pages.values();
        int valueCount = count;
        if (!pages.skipLevelsIfDefined(count)) {
            if (!mayHaveNulls) {
                mayHaveNulls = true;
                Arrays.fill(defined, 0, first, 1);
            }
            valueCount = pages.readLevels(defined, first, count);
        } else if (mayHaveNulls) {
            Arrays.fill(defined, first, first + count, 1);
        }
        if (valueCount < count) {
            selectAmongNulls(decoder, first, count, valueCount);
        } else if (from == end) {
            decoder.skip(count);
        } else if (condition != null && decoder instanceof DictionaryDecoder codes) {
            return codes.selectLongs(condition, longs, selected, from, end, to, first, count);
        } else if (isInteger) {
            decoder.selectLongs(longs, selected, from, end, first, count);
        } else {
            decoder.selectBinaries(binaries, selected, from, end, first, count);
        }
        return condition == null ? end : condition.select(longs, selected, from, end, to);
    }

    /** Decodes all values, and moves each to its row, the last one first. */
    private void selectAmongNulls(ValueDecoder decoder, int first, int count, int valueCount)
            throws UnexpectedNullException {
        if (!column.nullable()) {
            throw unexpectedNull(first, count);
        }
        if (isInteger) {
            decoder.readLongs(longs, first, valueCount);
        } else {
            decoder.readBinaries(binaries, first, valueCount);
        }
        int value = first + valueCount;
        for (int row = first + count - 1; row >= first; row--) {
            if (defined[row] != 0) {
                value--;
                if (isInteger) {
                    longs[row] = longs[value];
                } else {
                    binaries.set(row, binaries, value);
                }
            }
        }
    }

    /** Moves the selected rows that are not null to the front, and returns how many there are. */
    int dropNulls(int[] selected, int count) {
        if (!mayHaveNulls) {
            return count;
        }
        int kept = 0;
        for (int i = 0; i < count; i++) {
            int row = selected[i];
            selected[kept] = row;
            kept += defined[row];
        }
        return kept;
    }

    /** Writes selected rows of a column that has fixed width in the chunk. */
    void put(int[] selected, int count, byte[] target, int at) {
        int widthBytes = column.type().widthBytes();
        long to = Memory.BYTES + at;
        if (widthBytes == Long.BYTES) {
            for (int i = 0; i < count; i++) {
                Memory.putLong(target, to + 8L * i, longs[selected[i]]);
            }
        } else if (widthBytes == Integer.BYTES) {
            for (int i = 0; i < count; i++) {
                Memory.putInt(target, to + 4L * i, (int) longs[selected[i]]);
            }
        } else {
            for (int i = 0; i < count; i++) {
                long place = to + (long) widthBytes * i;
                Memory.putInteger(target, place, widthBytes, longs[selected[i]]);
            }
        }
    }

    /** Adds the value of a selected row. */
    void appendSelected(ChunkBuilder builder, int row) {
        if (mayHaveNulls && defined[row] == 0) {
            builder.addNull();
        } else if (isInteger) {
            builder.addInteger(column.type().widthBytes(), longs[row]);
        } else {
            binaries.appendTo(builder, row);
        }
    }

    /**
     * Skips all rows before a row of the row group. Pages of skipped rows may be absent.
     *
     * @param row its number
     */
    void seek(long row) throws IOException {
        pages.seek(row, defined);
    }
}
