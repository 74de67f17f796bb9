// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import io.github.gpujoin.core.region.Memory;
import java.io.IOException;
import java.util.Arrays;
import java.util.Objects;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.column.Encoding;
import org.apache.parquet.column.page.DataPage;
import org.apache.parquet.column.page.DataPageV1;
import org.apache.parquet.column.page.DataPageV2;
import org.apache.parquet.column.page.PageReader;
import org.apache.parquet.io.ParquetDecodingException;
import org.jspecify.annotations.Nullable;

/**
 * Moves through the pages of one column of a row group, and opens the levels and the values of
 * each. Not thread-safe.
 */
final class PageCursor {

    private final ColumnDescriptor descriptor;
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

    /**
     * @param dictionary of the column in the row group
     * @param decompressors of the file's pages
     */
    PageCursor(
            ColumnDescriptor descriptor,
            ParquetColumn source,
            PageReader pages,
            ColumnDictionary dictionary,
            PageDecompressors decompressors)
            throws IOException {
        this.descriptor = descriptor;
        this.source = source;
        this.pages = pages;
        this.decompressors = decompressors;
        decompressors.offer(null);
        this.dictionary = dictionary.values(pages);
    }

    // ------------------------------------------------------------------ rows

    /** Opens the next page if the current one is at its end; returns the rows left in it. */
    int startPage() throws IOException {
        return startPage(false);
    }

    /** Returns the dictionary of the column in the row group, if it has one. */
    DictionaryDecoder.@Nullable Values dictionary() {
        return dictionary;
    }

    /** Returns the decoder of the current page's values. */
    ValueDecoder values() {
        return Objects.requireNonNull(values);
    }

    /** Returns the number in the row group of the next row to read. */
    long nextRow() {
        return nextRow;
    }

    /** Moves behind rows of the current page, whose levels and values are read. */
    void advance(int rows) {
        left -= rows;
        nextRow += rows;
    }

    /**
     * Reads which of the next rows are not null, and returns their count.
     *
     * @param defined receives 1 for a value and 0 for null, from index {@code from} on
     */
    int readDefined(int[] defined, int from, int count) {
        if (skipLevelsIfDefined(count)) {
            Arrays.fill(defined, from, from + count, 1);
            return count;
        }
        return readLevels(defined, from, count);
    }

    /** Passes the levels of the next rows if it is plain that none of them is null. */
    boolean skipLevelsIfDefined(int count) {
        return levels == null || levels.skipAll(1, count);
    }

    /** Like {@link #readDefined}, after {@link #skipLevelsIfDefined} was false. */
    int readLevels(int[] defined, int from, int count) {
        Objects.requireNonNull(levels).read(defined, from, count);
        int sum = 0;
        for (int i = from; i < from + count; i++) {
            sum += defined[i];
        }
        return sum;
    }

    /**
     * Skips all rows before a row of the row group. Pages of skipped rows may be absent.
     *
     * @param row its number
     * @param scratch room for the levels of some rows
     */
    void seek(long row, int[] scratch) throws IOException {
        while (nextRow < row) {
            int available = startPage(true);
            if (nextRow >= row) {
                break;
            }
            int some = (int) Math.min(row - nextRow, available);
            for (int done = 0; done < some; ) {
                int batch = Math.min(some - done, scratch.length);
                values().skip(readDefined(scratch, 0, batch));
                done += batch;
            }
            advance(some);
        }
        if (nextRow != row) {
            throw new ParquetDecodingException(
                    "Page of a row is absent: row=" + row + ", next=" + nextRow);
        }
    }

    // ------------------------------------------------------------------ pages

    /**
     * Opens the next page if the current one is at its end; returns the rows left in it.
     *
     * @param maySkip whether pages before it may be absent
     */
    private int startPage(boolean maySkip) throws IOException {
        while (left == 0) {
            decompressors.offer(pageBuffer);
            DataPage page = pages.readPage();
            pageBuffer = source.isInteger() ? decompressors.buffer() : null;
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
        return ConvertedDecoder.of(
                encoding == Encoding.PLAIN
                        ? plain(bytes)
                        : new OtherDecoder(descriptor, encoding, bytes, count),
                source.conversion());
    }

    private ValueDecoder plain(PageBytes bytes) {
        return PlainDecoders.of(descriptor.getPrimitiveType(), bytes);
    }
}
