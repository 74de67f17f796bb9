// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import io.github.gpujoin.core.filter.LongCondition;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.formats.parquet.ParquetColumn.Conversion;
import java.io.IOException;
import java.util.Arrays;
import java.util.Objects;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.column.Encoding;
import org.apache.parquet.column.page.DataPage;
import org.apache.parquet.column.page.DataPageV1;
import org.apache.parquet.column.page.DataPageV2;
import org.apache.parquet.column.page.DictionaryPage;
import org.apache.parquet.column.page.PageReader;
import org.apache.parquet.io.ParquetDecodingException;
import org.apache.parquet.schema.PrimitiveType;
import org.jspecify.annotations.Nullable;

/**
 * Reads the values of one column of a row group, page by page. A column of fixed width goes
 * straight to a chunk. For any other, {@link #load} decodes the values of some rows, which {@link
 * #append} then adds row by row. Not thread-safe.
 */
final class ColumnPages {

    private final ColumnDescriptor descriptor;
    private final Column column;
    private final ParquetColumn source;
    private final PageReader pages;
    private final PageDecompressors decompressors;

    /** Of the current page; pages of byte sequences have an array each, to which values refer. */
    private byte @Nullable [] pageBuffer;

    private final DictionaryDecoder.@Nullable Values dictionary;

    /** Number in the row group of the next row to read. */
    private long nextRow;

    /** Rows of the current page that have not been read. */
    private int left;

    /** Definition levels of the page; null where no value can be null. */
    private @Nullable RunDecoder levels;

    private @Nullable ValueDecoder values;

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
     * @param decompressors of the file's pages
     * @param maxRows of one batch
     */
    ColumnPages(
            ColumnDescriptor descriptor,
            Column column,
            ParquetColumn source,
            PageReader pages,
            PageDecompressors decompressors,
            int maxRows)
            throws IOException {
        this.descriptor = descriptor;
        this.column = column;
        this.source = source;
        this.pages = pages;
        this.decompressors = decompressors;
        this.defined = new int[maxRows];
        this.longs = new long[isInteger() ? maxRows : 0];
        this.binaries = new Binaries(isInteger() ? 0 : maxRows);
        decompressors.offer(null);
        DictionaryPage page = pages.readDictionaryPage();
        this.dictionary = page == null ? null : dictionary(page);
    }

    /** Whether values are integers or bits of floats, not byte sequences. */
    private boolean isInteger() {
        return source.type().isFixedWidth();
    }

    private DictionaryDecoder.Values dictionary(DictionaryPage page) throws IOException {
        int size = page.getDictionarySize();
        PageBytes bytes = PageBytes.of(page.getBytes());
        if (size < 0 || size > bytes.end() - bytes.start()) {
            throw new ParquetDecodingException(
                    "Size of a dictionary is wrong: size="
                            + size
                            + ", bytes="
                            + (bytes.end() - bytes.start()));
        }
        ValueDecoder decoder = converted(plain(bytes));
        if (isInteger()) {
            long[] all = new long[size];
            decoder.readLongs(all, 0, size);
            return new DictionaryDecoder.Values(all, null, size);
        }
        Binaries all = new Binaries(size);
        decoder.readBinaries(all, 0, size);
        return new DictionaryDecoder.Values(null, all, size);
    }

    // ------------------------------------------------------------------ rows

    /**
     * Decodes rows of a column that has fixed width in the chunk.
     *
     * @param at offset in {@code target} of the first
     * @param rows at most the maximum of a batch
     */
    void read(int rows, byte[] target, int at) throws IOException {
        int widthBytes = column.type().widthBytes();
        for (int done = 0; done < rows; ) {
            int some = Math.min(rows - done, startPage());
            if (readDefined(0, some) < some) {
                throw new ParquetDecodingException("Null in a column that is read as not nullable");
            }
            readValues(some, target, at + done * widthBytes, widthBytes);
            left -= some;
            nextRow += some;
            done += some;
        }
    }

    private void readValues(int count, byte[] target, int at, int widthBytes) {
        ValueDecoder decoder = Objects.requireNonNull(values);
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
            int some = Math.min(rows - done, startPage());
            int count = readDefined(done, some);
            if (count < some && !column.nullable()) {
                throw new ParquetDecodingException("Null in a column that is read as not nullable");
            }
            ValueDecoder decoder = Objects.requireNonNull(values);
            if (isInteger()) {
                decoder.readLongs(longs, loaded, count);
            } else {
                decoder.readBinaries(binaries, loaded, count);
            }
            loaded += count;
            left -= some;
            nextRow += some;
            done += some;
        }
        appended = 0;
    }

    /** Adds the value of a row of the loaded batch, which are added in order. */
    void append(ChunkBuilder builder, int row) {
        if (defined[row] == 0) {
            builder.addNull();
        } else if (isInteger()) {
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
            int some = Math.min(rows - done, startPage());
            int end = done + some == rows ? count : firstFrom(done + some, selected, next, count);
            kept = selectInPage(condition, selected, next, end, kept, done, some);
            next = end;
            left -= some;
            nextRow += some;
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
            int count) {
        ValueDecoder decoder = Objects.requireNonNull(values);
        int valueCount = count;
        if (levels != null && !levels.skipAll(1, count)) {
            if (!mayHaveNulls) {
                mayHaveNulls = true;
                Arrays.fill(defined, 0, first, 1);
            }
            valueCount = readLevels(levels, first, count);
        } else if (mayHaveNulls) {
            Arrays.fill(defined, first, first + count, 1);
        }
        if (valueCount < count) {
            selectAmongNulls(decoder, first, count, valueCount);
        } else if (from == end) {
            decoder.skip(count);
        } else if (condition != null && decoder instanceof DictionaryDecoder codes) {
            return codes.selectLongs(condition, longs, selected, from, end, to, first, count);
        } else if (isInteger()) {
            decoder.selectLongs(longs, selected, from, end, first, count);
        } else {
            decoder.selectBinaries(binaries, selected, from, end, first, count);
        }
        return condition == null ? end : condition.select(longs, selected, from, end, to);
    }

    /** Decodes all values, and moves each to its row, the last one first. */
    private void selectAmongNulls(ValueDecoder decoder, int first, int count, int valueCount) {
        if (!column.nullable()) {
            throw new ParquetDecodingException("Null in a column that is read as not nullable");
        }
        if (isInteger()) {
            decoder.readLongs(longs, first, valueCount);
        } else {
            decoder.readBinaries(binaries, first, valueCount);
        }
        int value = first + valueCount;
        for (int row = first + count - 1; row >= first; row--) {
            if (defined[row] != 0) {
                value--;
                if (isInteger()) {
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
        } else if (isInteger()) {
            builder.addInteger(column.type().widthBytes(), longs[row]);
        } else {
            binaries.appendTo(builder, row);
        }
    }

    // ------------------------------------------------------------------ pages

    /**
     * Skips all rows before a row of the row group. Pages of skipped rows may be absent.
     *
     * @param row its number
     */
    void seek(long row) throws IOException {
        while (nextRow < row) {
            int available = startPage(true);
            if (nextRow >= row) {
                break;
            }
            int some = (int) Math.min(row - nextRow, available);
            for (int done = 0; done < some; ) {
                int batch = Math.min(some - done, defined.length);
                Objects.requireNonNull(values).skip(readDefined(0, batch));
                done += batch;
            }
            left -= some;
            nextRow += some;
        }
        if (nextRow != row) {
            throw new ParquetDecodingException(
                    "Page of a row is absent: row=" + row + ", next=" + nextRow);
        }
    }

    /** Reads which rows are not null, and returns their count. */
    private int readDefined(int from, int count) {
        if (levels == null || levels.skipAll(1, count)) {
            Arrays.fill(defined, from, from + count, 1);
            return count;
        }
        return readLevels(levels, from, count);
    }

    private int readLevels(RunDecoder levels, int from, int count) {
        levels.read(defined, from, count);
        int sum = 0;
        for (int i = from; i < from + count; i++) {
            sum += defined[i];
        }
        return sum;
    }

    private int startPage() throws IOException {
        return startPage(false);
    }

    /**
     * Opens the next page if the current one is at its end; returns the rows left in it.
     *
     * @param maySkip whether pages before it may be absent
     */
    private int startPage(boolean maySkip) throws IOException {
        while (left == 0) {
            decompressors.offer(pageBuffer);
            DataPage page = pages.readPage();
            pageBuffer = isInteger() ? decompressors.buffer() : null;
            if (page == null) {
                throw new ParquetDecodingException("Column has fewer rows than its row group");
            }
            if (page instanceof DataPageV1 v1) {
                open(v1);
            } else if (page instanceof DataPageV2 v2) {
                open(v2);
            }
            left = page.getValueCount();
            long first = page.getFirstRowIndex().orElse(nextRow);
            if (first != nextRow && !maySkip) {
                throw new ParquetDecodingException(
                        "Page of a row is absent: row=" + nextRow + ", next=" + first);
            }
            nextRow = first;
            if (left < 0) {
                throw new ParquetDecodingException("Count of values is negative: count=" + left);
            }
        }
        return left;
    }

    private void open(DataPageV1 page) throws IOException {
        PageBytes bytes = PageBytes.of(page.getBytes());
        levels = null;
        if (descriptor.getMaxDefinitionLevel() > 0) {
            if (page.getDlEncoding() != Encoding.RLE) {
                throw new ParquetDecodingException(
                        "Definition levels are not in RLE: encoding=" + page.getDlEncoding());
            }
            bytes.require(bytes.start(), Integer.BYTES);
            int length = Memory.getInt(bytes.bytes(), Memory.BYTES + bytes.start());
            int start = bytes.start() + Integer.BYTES;
            PageBytes behind = bytes.from(Math.addExact(start, length));
            levels = new RunDecoder(bytes.bytes(), start, behind.start(), 1);
            bytes = behind;
        }
        values = decoder(page.getValueEncoding(), bytes, page.getValueCount());
    }

    private void open(DataPageV2 page) throws IOException {
        levels = null;
        if (descriptor.getMaxDefinitionLevel() > 0) {
            PageBytes bytes = PageBytes.of(page.getDefinitionLevels());
            levels = new RunDecoder(bytes.bytes(), bytes.start(), bytes.end(), 1);
        }
        values =
                decoder(page.getDataEncoding(), PageBytes.of(page.getData()), page.getValueCount());
    }

    private ValueDecoder decoder(Encoding encoding, PageBytes bytes, int count) throws IOException {
        if (encoding.usesDictionary()) {
            if (dictionary == null) {
                throw new ParquetDecodingException("Column has codes and no dictionary");
            }
            return new DictionaryDecoder(bytes, dictionary);
        }
        return converted(
                encoding == Encoding.PLAIN
                        ? plain(bytes)
                        : new OtherDecoder(descriptor, encoding, bytes, count));
    }

    private ValueDecoder plain(PageBytes bytes) {
        PrimitiveType type = descriptor.getPrimitiveType();
        return PlainDecoders.of(type.getPrimitiveTypeName(), type.getTypeLength(), bytes);
    }

    private ValueDecoder converted(ValueDecoder stored) {
        return source.conversion() == Conversion.NONE
                ? stored
                : new ConvertedDecoder(stored, source.conversion());
    }
}
